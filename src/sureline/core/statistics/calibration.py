"""The calibration map: from a composite score to a probability of being correct (G18).

A cross-validated blend of Platt's logistic map and shrunk isotonic regression. The first is right
when there are few labels, the second when there are many; how much of each is settled on held-out
folds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureline.core.statistics.isotonic import Isotonic, fit_isotonic
from sureline.core.statistics.platt import Platt, fit_platt, never_certain
from sureline.core.statistics.tally import Tally
from sureline.errors import InvalidInput

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

FOLDS = 5
REPEATS = 3
"""How often labels are dealt into folds anew, so that the share hangs less on one deal."""
LEAST_OF_EACH = 2
"""A map needs at least this many labels of either kind."""
DIGITS = 12
"""Digits that are kept of a map's figures, so that the same labels give the same bytes."""
_DOUBT = 1.0
"""Pull of the share towards 0, in units of squared difference summed over held-out labels: where
the folds can hardly tell the curves apart, the simpler one is nearer the truth."""
_SEED = 20261130


@dataclass(frozen=True, slots=True, kw_only=True)
class MappedScore:
    """A probability of being correct, strictly between 0 and 1.

    `extrapolated` says that the score lies outside the fitted range, whose end value it got.
    """

    value: float
    extrapolated: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CalibrationMap:
    """A rising map from scores to probabilities, fitted on `n` labels.

    `isotonic_share` in [0, 1] is the weight of the isotonic part. `low` and `high` are the
    fitted scores' ends; outside of them the map is held at its end values.
    """

    platt: Platt
    isotonic: Isotonic
    isotonic_share: float
    low: float
    high: float
    n: int

    def __call__(self, scores: ArrayLike) -> Floats:
        """Return probabilities strictly between 0 and 1, same shape as `scores`.

        Raises InvalidInput for NaN and anything else outside [0, 1].
        """
        inside = np.clip(in_range(scores), self.low, self.high)
        mixed = _blend(self.platt(inside), self.isotonic(inside), self.isotonic_share)
        return never_certain(mixed)

    def extrapolates(self, score: float) -> bool:
        """Tell whether a score lies outside the fitted range, so that its value was held."""
        return not self.low <= score <= self.high

    def at(self, score: float | None) -> MappedScore | None:
        """Return the probability at one score; None where there is no score or it is NaN.

        Raises InvalidInput for another score outside [0, 1].
        """
        if score is None or score != score:
            return None
        return MappedScore(value=float(self(score)), extrapolated=self.extrapolates(score))


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfitted:
    """Why there is no map; what was used before stays (case C17)."""

    reason: str
    n: int


def in_range(scores: ArrayLike) -> Floats:
    """Return scores as an array. Raises InvalidInput where one is not a number from 0 to 1."""
    array = np.asarray(scores, np.float64)
    bad = ~((array >= 0.0) & (array <= 1.0))
    if bad.any():
        raise InvalidInput(f"expected scores from 0 to 1, got {array[bad][0]:g}", field="score")
    return array


def fit_tally(tally: Tally) -> CalibrationMap | Unfitted:
    """Fit a map to counted labels; see `fit_calibration`."""
    labels, correct = tally.counts
    return fit_calibration(tally.score[::-1], correct[::-1], labels[::-1])


def fit_calibration(
    scores: ArrayLike, correct: ArrayLike, labels: ArrayLike
) -> CalibrationMap | Unfitted:
    """Fit a map to `correct` of `labels` at rising, distinct scores in [0, 1].

    Refuses with a reason where one kind of label is missing or nearly so: a curve through labels
    of one kind would only repeat it. The folds are drawn from the counts under a fixed seed, so
    the same labels give the same map. Raises InvalidInput for scores or counts that are none.
    """
    s = in_range(scores)
    right, n = np.asarray(correct, np.int64), np.asarray(labels, np.int64)
    _check(s, right, n)
    wrong_total, right_total = int((n - right).sum()), int(right.sum())
    if min(wrong_total, right_total) < LEAST_OF_EACH:
        kind = "wrong" if wrong_total < LEAST_OF_EACH else "correct"
        return Unfitted(reason=f"fewer than {LEAST_OF_EACH} {kind} labels", n=int(n.sum()))
    platt, isotonic = fit_platt(s, right, n), fit_isotonic(s, right, n)
    return CalibrationMap(
        platt=Platt(intercept=_rounded(platt.intercept), slope=_rounded(platt.slope)),
        isotonic=Isotonic(knots=isotonic.knots, levels=np.round(isotonic.levels, DIGITS)),
        isotonic_share=_rounded(_best_share(s, right, n)),
        low=float(s[0]),
        high=float(s[-1]),
        n=int(n.sum()),
    )


def _rounded(value: float) -> float:
    return round(value, DIGITS)


def _check(s: Floats, right: Counts, n: Counts) -> None:
    if not s.shape == right.shape == n.shape or s.ndim != 1:
        raise InvalidInput("scores, correct and labels must be lists of one length")
    if (s[1:] <= s[:-1]).any():
        raise InvalidInput("expected rising, distinct scores", field="scores")
    if (n < 1).any() or (right < 0).any() or (right > n).any():
        raise InvalidInput("expected 1 label or more a score, and 0 to all of them correct")


def _blend(platt: Floats, isotonic: Floats, share: float) -> Floats:
    mixed: Floats = (1 - share) * platt + share * isotonic
    return mixed


def _best_share(s: Floats, right: Counts, n: Counts) -> float:
    """Return the isotonic share with the least squared error on held-out folds, and some doubt.

    The error is a parabola in the share, so its lowest point is known exactly.
    """
    draw = np.random.default_rng(_SEED)
    slope = curvature = 0.0
    for held_right, held_wrong in _deals(right, n - right, draw):
        held = held_right + held_wrong
        known = n > held
        parts = (s[known], (right - held_right)[known], (n - held)[known])
        if not known.any():
            continue
        platt, isotonic = fit_platt(*parts)(s), fit_isotonic(*parts)(s)
        apart = isotonic - platt
        slope += float((apart * (held_right - held * platt)).sum())
        curvature += float((held * apart**2).sum())
    return min(1.0, max(0.0, slope / (curvature + _DOUBT)))


def _deals(
    right: Counts, wrong: Counts, draw: np.random.Generator
) -> Iterator[tuple[Counts, Counts]]:
    """Give the correct and the wrong labels of each fold of each repeat."""
    for _ in range(REPEATS):
        yield from zip(_split(right, draw), _split(wrong, draw), strict=True)


def _split(counts: Counts, draw: np.random.Generator) -> list[Counts]:
    """Deal counted labels into folds at random, as if each label were dealt by itself."""
    left, folds = counts.copy(), []
    for fold in range(FOLDS, 0, -1):
        part = draw.binomial(left, 1.0 / fold)
        folds.append(part)
        left = left - part
    return folds
