"""Drift: do this week's scores, and missing signals, look like those of the reference? (L3)

Every series is tested once a week against a fixed reference. Week w (from 1) may spend
alpha 6 / (pi^2 w^2), so that the chance of any false alarm, in however many weeks, stays below
alpha. An alarm needs an effect as well as significance: with a million decisions everything is
significant (case C21). All of it runs from counts by score bin; no cost grows with the number of
decisions. What that means and assumes: docs/explanation/drift.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from sureline.core.statistics.bins import BINS, score_of
from sureline.errors import InvalidInput

LEAST_EFFECT = 0.05
"""An alarm needs at least this distance: one in twenty scores, or signals, on the other side."""

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vigilance:
    """How easily a week's test alarms.

    `alpha` is the chance of any false alarm over all weeks and all `series` that are watched
    together (scores, and one for each signal). `week` counts from 1 since the reference was
    fixed. `least_effect` in [0, 1] is the smallest distance worth an alarm.
    """

    week: int
    alpha: float = 0.05
    series: int = 1
    least_effect: float = LEAST_EFFECT

    def __post_init__(self) -> None:
        if self.week < 1 or self.series < 1:
            raise InvalidInput("expected weeks from 1 and at least 1 series", field="drift")
        if not 0.0 < self.alpha < 1.0 or not 0.0 <= self.least_effect <= 1.0:
            raise InvalidInput("expected alpha between 0 and 1, effect from 0 to 1", field="drift")

    @property
    def allowed(self) -> float:
        """Return the p-value at or below which this week's test is significant."""
        return self.alpha / self.series * 6 / (math.pi * self.week) ** 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreWindow:
    """Decisions of a window by score bin: `counts` has shape (10001,), labelled or not.

    `unmeasured` decisions had no score at all.
    """

    counts: Counts
    unmeasured: int = 0

    @property
    def n(self) -> int:
        """Return the number of scores."""
        return int(self.counts.sum())

    @property
    def coverage(self) -> float | None:
        """Return the share of decisions that have a score; None without decisions."""
        total = self.n + self.unmeasured
        return self.n / total if total else None

    @property
    def median(self) -> float | None:
        """Return the score of the lower median's bin; None without scores."""
        n = self.n
        if not n:
            return None
        return score_of(int(np.searchsorted(np.cumsum(self.counts), (n + 1) // 2)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """What a week's test says.

    `effect` is the distance in [0, 1] (None where a window is empty): of scores, the largest
    difference between the shares at or below any score; of missing rates, their difference.
    `rose` tells whether scores, or the missing rate, went up. `before` and `now` are the medians,
    or the rates. `coverage_before` and `coverage_now` are the shares of decisions that could be
    compared at all.
    """

    alarm: bool
    significant: bool
    effect: float | None
    rose: bool
    p_value: float
    allowed: float
    before: float | None
    now: float | None
    coverage_before: float | None
    coverage_now: float | None


def score_window(score_bins: ArrayLike, counts: ArrayLike, *, unmeasured: int = 0) -> ScoreWindow:
    """Count a table of (score bin, count), one entry a row, in any order; rows of a bin add up.

    Raises InvalidInput for a bin outside 0 .. 10,000 or a count that is no whole number >= 0.
    """
    where, number = np.atleast_1d(score_bins), np.atleast_1d(counts)
    if not where.size and not number.size:
        where = number = np.zeros(0, np.int64)
    if where.shape != number.shape or where.dtype.kind not in "iu" or number.dtype.kind not in "iu":
        raise InvalidInput("expected whole numbers, one bin and one count a row", field="counts")
    if where.size and not (where.min() >= 0 and where.max() < BINS and number.min() >= 0):
        raise InvalidInput(f"expected bins 0 to {BINS - 1}, counts of 0 or more", field="counts")
    if unmeasured < 0:
        raise InvalidInput(f"expected 0 or more, got {unmeasured}", field="unmeasured")
    total = np.zeros(BINS, np.int64)
    np.add.at(total, where, number.astype(np.int64))
    return ScoreWindow(counts=total, unmeasured=unmeasured)


def score_drift(reference: ScoreWindow, now: ScoreWindow, vigilance: Vigilance) -> Drift:
    """Compare two disjoint windows of scores by the two-sample Kolmogorov-Smirnov test.

    The p-value is the asymptotic one of continuous scores; tied and binned scores make it too
    large, never too small, so the false-alarm rate holds for them too. Missing scores are not
    compared here: watch them with `missing_drift`.
    """
    n, m = now.n, reference.n
    distance, rose, p = 0.0, False, 1.0
    if n and m:
        gaps = np.cumsum(now.counts) / n - np.cumsum(reference.counts) / m
        furthest = int(np.argmax(np.abs(gaps)))
        distance, rose = float(abs(gaps[furthest])), bool(gaps[furthest] < 0)
        p = float(scipy.special.kolmogorov(distance * math.sqrt(n * m / (n + m))))
    return _drift(
        vigilance,
        effect=distance if n and m else None,
        rose=rose,
        p_value=p,
        change=(reference.median, now.median),
        coverage=(reference.coverage, now.coverage),
    )


def missing_drift(reference: tuple[int, int], now: tuple[int, int], vigilance: Vigilance) -> Drift:
    """Compare how often a signal is missing, given (missing, decisions) of two windows.

    Fisher's exact test, two-sided by doubling the smaller tail. A signal that goes missing is
    drift even where the values still present look as ever (case C23).
    """
    (gone_before, m), (gone, n) = reference, now
    if not (0 <= gone_before <= m and 0 <= gone <= n):
        raise InvalidInput("expected 0 <= missing <= decisions", field="missing")
    before, after = gone_before / m if m else None, gone / n if n else None
    change, p = 0.0, 1.0
    if before is not None and after is not None:
        change, p = after - before, _fisher(gone_before, m, gone, n)
    return _drift(
        vigilance,
        effect=abs(change) if n and m else None,
        rose=change > 0,
        p_value=p,
        change=(before, after),
        coverage=(
            None if before is None else 1 - before,
            None if after is None else 1 - after,
        ),
    )


def drift_note(drift: Drift, *, two_cycles: bool, same_phase: Drift | None = None) -> str:
    """Return the sentence that goes with a week's test.

    `two_cycles` tells whether two cycles (say, months) have been recorded; only then is
    `same_phase`, the test against the same phase of earlier cycles, worth anything.
    """
    if not drift.alarm:
        return "No drift."
    moved = f"Drift: {'up' if drift.rose else 'down'} by {drift.effect:.2f}"
    if not two_cycles or same_phase is None:
        return f"{moved}; this may be seasonal, as two cycles have not been recorded yet."
    if same_phase.alarm:
        return f"{moved}, against the same phase of earlier cycles too."
    return f"{moved}, but as in the same phase of earlier cycles: seasonal."


def _fisher(gone_before: int, m: int, gone: int, n: int) -> float:
    """Return Fisher's two-sided p-value of two shares."""
    from scipy.stats import hypergeom

    spread = hypergeom(n + m, gone_before + gone, n)
    return float(min(1.0, 2 * min(spread.cdf(gone), spread.sf(gone - 1))))


def _drift(
    vigilance: Vigilance,
    *,
    effect: float | None,
    rose: bool,
    p_value: float,
    change: tuple[float | None, float | None],
    coverage: tuple[float | None, float | None],
) -> Drift:
    significant = p_value <= vigilance.allowed
    return Drift(
        alarm=significant and effect is not None and effect >= vigilance.least_effect,
        significant=significant,
        effect=effect,
        rose=rose,
        p_value=p_value,
        allowed=vigilance.allowed,
        before=change[0],
        now=change[1],
        coverage_before=coverage[0],
        coverage_now=coverage[1],
    )
