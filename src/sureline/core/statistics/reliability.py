"""The reliability table: does a score of .9 mean correct nine times in ten? (G19)"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from sureline.core.statistics.binomial import lower_bound, upper_bound
from sureline.core.statistics.tally import Tally
from sureline.errors import InvalidInput

TOO_FEW = 10
"""A bucket with fewer labels gets no verdict."""
_TAIL = 0.025


class Calibrated(StrEnum):
    """How a bucket's mean score compares with how often it was correct."""

    OVERCONFIDENT = "overconfident"
    """The mean score is above the interval of the share correct."""
    WELL_CALIBRATED = "well_calibrated"
    """The mean score is inside the interval."""
    UNDERCONFIDENT = "underconfident"
    """The mean score is below the interval."""
    TOO_FEW = "too_few"
    """Too few labels to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """Scores from `low` to below `high` (the top bucket includes 1.0).

    `predicted` is the mean score, `actual` the share correct, `gap` predicted - actual (positive:
    overconfident), `interval` the two-sided 95 % Clopper-Pearson interval of `actual`; all None
    in an empty bucket.
    """

    low: float
    high: float
    n: int
    predicted: float | None
    actual: float | None
    gap: float | None
    interval: tuple[float, float] | None
    verdict: Calibrated


@dataclass(frozen=True, slots=True, kw_only=True)
class Reliability:
    """Buckets with the figures over all labels; `ece`, `brier` and `gap` are None without any.

    `ece` is the expected calibration error over these buckets, `brier` the mean squared error of
    the score, `gap` the mean score minus the share correct.
    """

    n: int
    buckets: tuple[Bucket, ...]
    ece: float | None
    brier: float | None
    gap: float | None


def reliability(tally: Tally, *, buckets: int = 10) -> Reliability:
    """Return the reliability table of labelled scores over `buckets` equal parts of [0, 1].

    Scores outside [0, 1] never get into a Tally, so nothing is dropped here.
    """
    if buckets < 1:
        raise InvalidInput(f"expected at least 1, got {buckets}", field="buckets")
    edges = np.arange(buckets + 1) / buckets
    labels, correct = tally.counts
    # A bin that reaches over an edge counts above it: round scores lie on the edges exactly.
    place = tally.score if tally.upper is None else tally.upper
    where = np.minimum(np.searchsorted(edges, place, side="right") - 1, buckets - 1)
    n = np.bincount(where, labels, buckets).astype(np.int64)
    right = np.bincount(where, correct, buckets).astype(np.int64)
    score = np.bincount(where, labels * tally.score, buckets)
    table = tuple(
        _bucket(edges[i : i + 2], int(n[i]), int(right[i]), float(score[i])) for i in range(buckets)
    )
    if not tally.n:
        return Reliability(n=0, buckets=table, ece=None, brier=None, gap=None)
    return Reliability(
        n=tally.n,
        buckets=table,
        ece=sum(b.n * abs(b.gap) for b in table if b.gap is not None) / tally.n,
        brier=brier(tally),
        gap=float(score.sum() - right.sum()) / tally.n,
    )


def brier(tally: Tally) -> float | None:
    """Return the mean of (score - label)^2, or None without labels."""
    if not tally.n:
        return None
    labels, correct = tally.counts
    loss = correct * (1 - tally.score) ** 2 + (labels - correct) * tally.score**2
    return float(loss.sum()) / tally.n


def _bucket(edges: NDArray[np.float64], n: int, correct: int, score: float) -> Bucket:
    low, high = float(edges[0]), float(edges[1])
    if not n:
        return Bucket(
            low=low,
            high=high,
            n=0,
            predicted=None,
            actual=None,
            gap=None,
            interval=None,
            verdict=Calibrated.TOO_FEW,
        )
    predicted, actual = score / n, correct / n
    bounds = float(lower_bound(correct, n, _TAIL)), float(upper_bound(correct, n, _TAIL))
    return Bucket(
        low=low,
        high=high,
        n=n,
        predicted=predicted,
        actual=actual,
        gap=predicted - actual,
        interval=bounds,
        verdict=_verdict(n, predicted, bounds),
    )


def _verdict(n: int, predicted: float, interval: tuple[float, float]) -> Calibrated:
    if n < TOO_FEW:
        return Calibrated.TOO_FEW
    if predicted > interval[1]:
        return Calibrated.OVERCONFIDENT
    if predicted < interval[0]:
        return Calibrated.UNDERCONFIDENT
    return Calibrated.WELL_CALIBRATED
