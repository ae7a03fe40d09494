"""What a policy asks for before it automates anything (G20)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from sureline.application.policies import is_human
from sureline.core.opinions.deductions import deductions_of, highest_composite
from sureline.core.statistics.binomial import labels_needed, smallest_band
from sureline.core.values.certificate import ErrorRate
from sureline.core.values.policy import Policy, SlicePolicy

SHARE_BY_LABELS = ((100, 0.16), (200, 0.30), (500, 0.52), (1000, 0.64), (2000, 0.74), (5000, 0.82))
"""Share of the automation that perfect knowledge would allow, by number of labels.

Measured at target .95 and delta .05 over twelve shapes of score distributions (STATISTICS §1).
"""

MEASURED_BAND = 59
"""The smallest band that can be certified at the target and delta of SHARE_BY_LABELS."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """After how many labels which share of the possible automation can be expected.

    `scaled` says that the labels were scaled by the smallest band from another target, not
    measured at this one. What is possible depends on the slice's own outputs and is not known.
    """

    labels: int
    share: float
    scaled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DeductionReport:
    """A failure mode of a self-evaluation: `highest` is the best score an output with it can get.

    That is the composite where the self-evaluation finds nothing else and all other signals are 1.
    """

    id: str
    points: int
    highest: float
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceReport:
    """What one slice needs: fewest labels in the automated band by number of errors in it.

    `delta` is the slice's part, which a family-wise error rate makes smaller. `may_automate` is
    False where people decide everything whatever the labels say. `confidence` is what a kind of
    mission asks of its judge until there is a certificate, None for other slices.
    """

    slice_key: str
    mode: str
    may_automate: bool
    target: float
    delta: float
    labels_by_errors: tuple[int, int, int]
    expectations: tuple[Expectation, ...]
    measurement_hash: str
    confidence: float | None = None
    deductions: tuple[DeductionReport, ...] = ()


def policy_report(policy: Policy) -> tuple[SliceReport, ...]:
    """Return what each slice needs before it is automated, by name of slice."""
    family = sum(one.error_rate is ErrorRate.FAMILY for one in policy.slices.values())
    return tuple(_slice_report(policy, key, family) for key in sorted(policy.slices))


def _slice_report(policy: Policy, key: str, family: int) -> SliceReport:
    one = policy.slices[key]
    delta = one.delta / family if one.error_rate is ErrorRate.FAMILY else one.delta
    band = smallest_band(one.target_precision, delta)
    return SliceReport(
        slice_key=one.key,
        mode=str(one.mode),
        may_automate=not is_human(policy, one.key),
        target=one.target_precision,
        delta=delta,
        labels_by_errors=(
            labels_needed(0, one.target_precision, delta),
            labels_needed(1, one.target_precision, delta),
            labels_needed(2, one.target_precision, delta),
        ),
        expectations=tuple(
            Expectation(
                labels=round(labels * band / MEASURED_BAND),
                share=share,
                scaled=(one.target_precision, delta) != (0.95, 0.05),
            )
            for labels, share in SHARE_BY_LABELS
        ),
        measurement_hash=policy.measurement_hashes[key],
        confidence=one.uncertified_from if one.is_mission else None,
        deductions=tuple(_deductions(one)),
    )


def _deductions(policy: SlicePolicy) -> Iterator[DeductionReport]:
    """Yield what a slice's self-evaluation looks for, in the order of the file."""
    if policy.self_evaluation is None:
        return
    share = policy.weights.get("self_evaluation", 0.0) / math.fsum(policy.weights.values())
    for one in deductions_of(policy.self_evaluation.deductions):
        highest = highest_composite(one.points, share)
        yield DeductionReport(id=one.id, points=one.points, highest=highest, text=one.text)
