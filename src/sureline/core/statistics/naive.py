"""Threshold rules that people copy and that prove nothing; for comparison only (G20).

Each is worse than the target in most samples of realistic size; benchmarks/threshold.py measures
how often. Nothing here can become a certificate.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sureline.core.statistics.tally import Tally


class NaiveRule(StrEnum):
    """How a threshold is guessed from the observed precision alone."""

    RUNNING_PRECISION = "naive_running_precision"
    """Walk down the sorted scores until the running precision first falls below the target."""
    LARGEST_BAND = "naive_largest_band"
    """Take the largest band whose observed precision is at least the target."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NaiveThreshold:
    """What a naive rule would do with the same labels: a comparison without any guarantee.

    `threshold` is None where the rule finds no band. `precision` is the observed one, which
    flatters the rule because the rule was chosen by it.
    """

    rule: NaiveRule
    threshold: float | None
    in_band: int
    correct: int
    coverage: float
    precision: float | None


def running_precision(tally: Tally, target: float) -> NaiveThreshold:
    """Return the band before the running precision first falls below `target`."""
    holds = tally.correct >= target * tally.labels
    walked = len(holds) if holds.all() else int(np.argmin(holds))
    return _band(NaiveRule.RUNNING_PRECISION, tally, walked - 1)


def largest_band(tally: Tally, target: float) -> NaiveThreshold:
    """Return the largest band whose observed precision is at least `target`."""
    holds = np.flatnonzero(tally.correct >= target * tally.labels)
    return _band(NaiveRule.LARGEST_BAND, tally, int(holds[-1]) if len(holds) else -1)


def _band(rule: NaiveRule, tally: Tally, end: int) -> NaiveThreshold:
    if end < 0:
        return NaiveThreshold(
            rule=rule, threshold=None, in_band=0, correct=0, coverage=0.0, precision=None
        )
    in_band, correct = int(tally.labels[end]), int(tally.correct[end])
    return NaiveThreshold(
        rule=rule,
        threshold=float(tally.threshold[end]),
        in_band=in_band,
        correct=correct,
        coverage=in_band / tally.n,
        precision=correct / in_band,
    )
