"""Pictures of scores as numbers: the risk-coverage curve, the histogram and the median."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureline.core.statistics.checked import checked_scores
from sureline.core.statistics.tally import Tally
from sureline.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class CurvePoint:
    """Automating `{score >= threshold}` covers a share and was right this often."""

    threshold: float
    coverage: float
    precision: float


def risk_coverage(tally: Tally, *, points: int = 200) -> tuple[CurvePoint, ...]:
    """Return coverage and observed precision at up to `points` thresholds, strictest first.

    The loosest threshold is always among them. Risk is 1 - precision.
    """
    if points < 2:
        raise InvalidInput(f"expected at least 2, got {points}", field="points")
    if not tally.n:
        return ()
    wanted = np.linspace(1, tally.n, points)
    ends = np.unique(np.searchsorted(tally.labels, wanted))
    return tuple(
        CurvePoint(
            threshold=float(tally.threshold[i]),
            coverage=int(tally.labels[i]) / tally.n,
            precision=int(tally.correct[i]) / int(tally.labels[i]),
        )
        for i in ends
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Histogram:
    """Counts of scores in equal parts of [0, 1]; the last part includes 1.0.

    `median` is the lower median, itself one of the scores; None without scores.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    n: int
    median: float | None


def histogram(scores: ArrayLike, counts: ArrayLike, *, parts: int = 20) -> Histogram:
    """Return the histogram of `scores` in [0, 1], each seen `counts` times (labelled or not)."""
    if parts < 1:
        raise InvalidInput(f"expected at least 1, got {parts}", field="parts")
    score = checked_scores(scores)
    number: NDArray[np.int64] = np.asarray(counts, np.int64)
    edges = np.arange(parts + 1) / parts
    where = np.minimum(np.searchsorted(edges, score, side="right") - 1, parts - 1)
    filled = np.bincount(where, number, parts).astype(np.int64)
    return Histogram(
        edges=tuple(edges.tolist()),
        counts=tuple(filled.tolist()),
        n=int(number.sum()),
        median=_median(score, number),
    )


def _median(score: NDArray[np.float64], number: NDArray[np.int64]) -> float | None:
    total = int(number.sum())
    if not total:
        return None
    order = np.argsort(score)
    seen = np.cumsum(number[order])
    return float(score[order][int(np.searchsorted(seen, (total + 1) // 2))])
