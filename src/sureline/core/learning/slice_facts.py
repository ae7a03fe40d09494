"""The counts of one slice that suggestions rest on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sureline.core.statistics.binomial import lower_bound, upper_bound

_TAIL = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """`part` of `whole`."""

    part: int = 0
    whole: int = 0

    @property
    def value(self) -> float | None:
        """Return the share in [0, 1], None of nothing."""
        return self.part / self.whole if self.whole else None

    @property
    def low(self) -> float:
        """Return the exact one-sided 95 % lower bound; 0 of nothing."""
        return float(lower_bound(self.part, self.whole, _TAIL)) if self.whole else 0.0

    @property
    def high(self) -> float:
        """Return the exact one-sided 95 % upper bound; 1 of nothing."""
        return float(upper_bound(self.part, self.whole, _TAIL)) if self.whole else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """A threshold, and the share of outputs in [0, 1] at or above it."""

    threshold: float
    coverage: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceFacts:
    """The counts of one slice that suggestions rest on.

    `target` precision. `held` is what is automated now, `proposed` what the labels certify now,
    both None for nothing; `hypothesis` says that a mere hypothesis holds it. `right` counts
    correct labels of all outputs that can be automated, `band` those at or above the threshold
    (`held`, else `proposed`), `approved` people's answers to drafts that were approved as they
    were. `corrections` counts how often each field was changed, of `corrected` changed outputs
    that were looked at; `noticed` in how many of these the checks had found fault with it.
    `honeypots` are the planted errors that reviewers noticed, None where none were planted.
    `tripped` counts the wrong ones of audited outputs where the guard has tripped, else None.
    `labels_missing` without an error would certify a threshold, None where no number is known to
    do. `human_only` says that the policy leaves the slice to people.
    """

    slice_key: str
    target: float
    held: Band | None = None
    proposed: Band | None = None
    hypothesis: bool = False
    right: Share = field(default_factory=Share)
    band: Share = field(default_factory=Share)
    approved: Share = field(default_factory=Share)
    corrections: Mapping[str, int] = field(default_factory=dict)
    corrected: int = 0
    noticed: Mapping[str, int] = field(default_factory=dict)
    honeypots: Share | None = None
    tripped: Share | None = None
    labels_missing: int | None = None
    human_only: bool = False
