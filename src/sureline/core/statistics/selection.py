"""Who gets labelled: make the labels that exist a fair sample of all decisions (G23).

Below the threshold a person sees everything; above it only an audit at a known rate. Counted as
they come, labels over-represent low scores. Two remedies:

* thinning (the default): of what is always seen only as large a share is kept as of what is
  audited. The mark is made when the decision is recorded, from the store's secret, so that kept
  labels are plain counts: the same every time, and one more label never changes which others are
  kept. Every certificate's guarantee then holds as it stands.
* effective size (Korn and Graubard 1998): all labels count, each stratum with its share of the
  decisions, as if there were as many labels as carry the same information. Approximate.

An unreviewed output is not a label. What each assumes: docs/explanation/who-gets-labelled.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureline.core.statistics.bins import BINS, edges_of, scores_of
from sureline.core.statistics.tally import Tally, tally_counts
from sureline.errors import InvalidInput

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]

_ROUNDING = 1e-9


def sampling_rate(*, automates: bool, audit_rate: float) -> float:
    """Return the share, in [0, 1], to which a slice's labels are thinned at a moment.

    `automates` tells whether the slice could act on its own just then (routing, a threshold that
    holds, no switch): if not, a person sees everything whatever its score, and all is kept.
    """
    _check_share(audit_rate, "audit_rate")
    return audit_rate if automates else 1.0


def is_kept(*, seen: bool, propensity: float, rate: float, draw: float) -> bool:
    """Tell whether a decision belongs to the fair sample; record it with the decision.

    `seen` tells whether a person was to see it (an audit, a review, a sampled rejection),
    `propensity` with which known chance, `rate` is the slice's `sampling_rate` at that moment and
    `draw` the decision's number in [0, 1) for Purpose.THINNING. Each decision is kept with chance
    min(rate, propensity), whatever its score. What nobody was to see is never kept, so that an
    incident reported about it later does not bias the sample.
    """
    _check_share(propensity, "propensity")
    _check_share(rate, "rate")
    return seen and draw * propensity < rate


@dataclass(frozen=True, slots=True, kw_only=True)
class SampledCount:
    """How many labelled decisions share a score bin, a label and how they came to be labelled.

    `kept` is the mark of `is_kept`, `propensity` the known chance in [0, 1] that a person saw
    them.
    """

    score_bin: int
    correct: bool
    count: int
    kept: bool
    propensity: float


def thinned_tally(rows: Iterable[SampledCount], *, from_bin: int = 0) -> Tally:
    """Count the kept labels in bins from `from_bin` on: what certificates are made from.

    Give the reject threshold's bin as `from_bin` where a slice rejects by itself: below it people
    see fewer than the audit rate, and a band that reaches into it would look better than it is.
    """
    kept = [row for row in rows if row.kept and row.score_bin >= from_bin]
    return tally_counts(
        [row.score_bin for row in kept],
        [row.correct for row in kept],
        [row.count for row in kept],
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stratum:
    """Decisions that were labelled at one rate, by score bin; arrays of shape (10001,).

    `decisions` are all of them, labelled or not; `labels` those with a label, `correct` the
    correct ones of these.
    """

    decisions: Counts
    labels: Counts
    correct: Counts

    def __post_init__(self) -> None:
        shapes = {self.decisions.shape, self.labels.shape, self.correct.shape}
        possible = shapes == {(BINS,)} and bool(
            np.all((self.correct >= 0) & (self.correct <= self.labels))
            and np.all(self.labels <= self.decisions)
        )
        if not possible:
            raise InvalidInput(
                f"expected {BINS} bins with 0 <= correct <= labels <= decisions", field="stratum"
            )


def effective_tally(strata: Sequence[Stratum]) -> Tally:
    """Count all labels as if each stratum were labelled in proportion; for `certify` only.

    In the band from each score up, with W_h the stratum's share of the decisions and p_h the
    share correct of its n_h labels: precision = sum W_h p_h and n_eff = 1 / sum(W_h^2 / n_h), 0
    where a stratum has decisions but no label. Sizes are rounded down and made to rise with the
    band; correct ones are rounded to the nearest. The certificate's `coverage` is then a share of
    effective labels, not of decisions: see `decision_coverage`.
    """
    decided = sum((stratum.decisions for stratum in strata), np.zeros(BINS, np.int64))
    used = np.flatnonzero(decided)[::-1]
    total = np.cumsum(decided[used])
    precision, variance = np.zeros(len(used)), np.zeros(len(used))
    for stratum in strata:
        decisions, labels, correct = (
            np.cumsum(one[used]) for one in (stratum.decisions, stratum.labels, stratum.correct)
        )
        share = decisions / total
        precision += share * correct / np.maximum(labels, 1)
        # A stratum without a label may be all wrong and says nothing: its variance is infinite.
        unknown = np.where(decisions > 0, np.inf, 0.0)
        variance += np.where(labels > 0, share**2 / np.maximum(labels, 1), unknown)
    size = 1.0 / variance if len(used) else variance
    rising = np.minimum.accumulate(size[::-1])[::-1]
    labels = np.floor(rising + _ROUNDING).astype(np.int64)
    return _effective(used, labels, np.rint(labels * precision).astype(np.int64))


def decision_coverage(strata: Sequence[Stratum], threshold: float) -> float | None:
    """Return the share of all decisions in {score >= threshold}; None without decisions."""
    decided = sum((stratum.decisions for stratum in strata), np.zeros(BINS, np.int64))
    total = int(decided.sum())
    inside = edges_of(np.arange(BINS)) >= threshold
    return int(decided[inside].sum()) / total if total else None


def stratum_counts(decisions: ArrayLike, labels: ArrayLike, correct: ArrayLike) -> Stratum:
    """Make a stratum of the score bins of its decisions, labelled ones and correct ones.

    Each argument is a list of bins, one a decision; for tests and imports of raw rows.
    """
    counted = [
        np.bincount(np.asarray(one, np.int64), minlength=BINS)
        for one in (decisions, labels, correct)
    ]
    return Stratum(decisions=counted[0], labels=counted[1], correct=counted[2])


def _effective(used: Counts, labels: Counts, correct: Counts) -> Tally:

    digest = hashlib.sha256(b"effective")
    for one in (used, labels, correct):
        digest.update(one.astype("<i8").tobytes())
    return Tally(
        threshold=edges_of(used),
        score=scores_of(used),
        labels=labels,
        correct=correct,
        data_hash=digest.hexdigest(),
    )


def _check_share(value: float, field: str) -> None:
    if not 0.0 <= value <= 1.0:
        raise InvalidInput(f"expected a share from 0 to 1, got {value}", field=field)
