"""The calibration map: from a composite score to a probability of being correct (G18).

A cross-validated blend of Platt's logistic map and shrunk isotonic regression (STATISTICS §5).
The first is right when there are few labels, the second when there are many; how much of each is
settled on held-out folds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureline.core.statistics.isotonic import Isotonic, fit_isotonic
from sureline.core.statistics.platt import Platt, fit_platt

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]

FOLDS = 5
LEAST_OF_EACH = 2
"""A map needs at least this many labels of either kind."""
_SHARES = np.linspace(0.0, 1.0, 11)
_SEED = 20261130


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
        """Return probabilities strictly between 0 and 1, same shape as `scores`."""
        inside = np.clip(np.asarray(scores, np.float64), self.low, self.high)
        return _blend(self.platt(inside), self.isotonic(inside), self.isotonic_share)

    def extrapolates(self, score: float) -> bool:
        """Tell whether a score lies outside the fitted range, so that its value was held."""
        return not self.low <= score <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfitted:
    """Why there is no map; what was used before stays (case C17)."""

    reason: str
    n: int


def fit_calibration(
    scores: ArrayLike, correct: ArrayLike, labels: ArrayLike
) -> CalibrationMap | Unfitted:
    """Fit a map to `correct` of `labels` at rising, distinct scores in [0, 1].

    Refuses with a reason where one kind of label is missing or nearly so: a curve through labels
    of one kind would only repeat it. The folds are drawn from the counts under a fixed seed, so
    the same labels give the same map.
    """
    s = np.asarray(scores, np.float64)
    right, n = np.asarray(correct, np.int64), np.asarray(labels, np.int64)
    wrong_total, right_total = int((n - right).sum()), int(right.sum())
    if min(wrong_total, right_total) < LEAST_OF_EACH:
        kind = "wrong" if wrong_total < LEAST_OF_EACH else "correct"
        return Unfitted(reason=f"fewer than {LEAST_OF_EACH} {kind} labels", n=int(n.sum()))
    return CalibrationMap(
        platt=fit_platt(s, right, n),
        isotonic=fit_isotonic(s, right, n),
        isotonic_share=_best_share(s, right, n),
        low=float(s[0]),
        high=float(s[-1]),
        n=int(n.sum()),
    )


def _blend(platt: Floats, isotonic: Floats, share: float) -> Floats:
    mixed: Floats = (1 - share) * platt + share * isotonic
    return mixed


def _best_share(s: Floats, right: Counts, n: Counts) -> float:
    """Return the isotonic share with the least squared error on held-out folds."""
    draw = np.random.default_rng(_SEED)
    right_folds = _split(right, draw)
    wrong_folds = _split(n - right, draw)
    losses = np.zeros(len(_SHARES))
    for held_right, held_wrong in zip(right_folds, wrong_folds, strict=True):
        fitted_right, fitted_n = right - held_right, n - held_right - held_wrong
        known = fitted_n > 0
        if not known.any():
            continue
        parts = (s[known], fitted_right[known], fitted_n[known])
        platt, isotonic = fit_platt(*parts)(s), fit_isotonic(*parts)(s)
        for index, share in enumerate(_SHARES):
            p = _blend(platt, isotonic, float(share))
            losses[index] += float((held_right * (1 - p) ** 2 + held_wrong * p**2).sum())
    return float(_SHARES[int(np.argmin(losses))])


def _split(counts: Counts, draw: np.random.Generator) -> list[Counts]:
    """Deal counted labels into folds at random, as if each label were dealt by itself."""
    left, folds = counts.copy(), []
    for fold in range(FOLDS, 0, -1):
        part = draw.binomial(left, 1.0 / fold)
        folds.append(part)
        left = left - part
    return folds
