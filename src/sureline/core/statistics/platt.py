"""Logistic calibration of a score on its logit, by penalised maximum likelihood (Platt 1999)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from sureline.core.statistics.logistic import Normal, fit_logistic

Floats = NDArray[np.float64]

CLIP = 1e-3
"""Scores are clipped to [CLIP, 1 - CLIP] before the logit is taken: scores of exactly 1 are common
and must not bend the line by themselves."""
NEVER_CERTAIN = 1e-6
"""No probability is closer to 0 or 1 than this."""
IDENTITY = Normal(mean=(0.0, 1.0), precision=(1e-3, 1e-3))
"""A weak pull towards leaving scores as they are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Platt:
    """P(correct) = expit(intercept + slope * logit(score)); the slope is never negative."""

    intercept: float
    slope: float

    def __call__(self, scores: ArrayLike) -> Floats:
        """Return probabilities strictly between 0 and 1, same shape as `scores`."""
        return never_certain(
            scipy.special.expit(self.intercept + self.slope * clipped_logit(scores))
        )


def clipped_logit(scores: ArrayLike) -> Floats:
    """Return ln(s / (1 - s)) of scores in [0, 1], clipped so that it is finite."""
    clipped: Floats = scipy.special.logit(np.clip(np.asarray(scores, np.float64), CLIP, 1 - CLIP))
    return clipped


def never_certain(chances: ArrayLike) -> Floats:
    """Return probabilities held a millionth away from 0 and 1."""
    held: Floats = np.clip(np.asarray(chances, np.float64), NEVER_CERTAIN, 1 - NEVER_CERTAIN)
    return held


def fit_platt(scores: ArrayLike, correct: ArrayLike, labels: ArrayLike) -> Platt:
    """Fit to `correct` of `labels` at each score (arrays of one shape, counts).

    Platt's targets, one pseudo-label each way, keep separable and one-sided data finite. A
    falling fit is replaced by the flat one, so that the map stays monotone.
    """
    n, right = np.asarray(labels, np.float64), np.asarray(correct, np.float64)
    total, hits = float(n.sum()), float(right.sum())
    high, low = (hits + 1) / (hits + 2), 1 / (total - hits + 2)
    target = right * high + (n - right) * low
    fit = fit_logistic(clipped_logit(scores), target, n, IDENTITY)
    if fit.slope <= 0:
        return Platt(intercept=float(scipy.special.logit((hits + 1) / (total + 2))), slope=0.0)
    return Platt(intercept=fit.intercept, slope=fit.slope)
