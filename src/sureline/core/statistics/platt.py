"""Logistic calibration of a score on its logit, by penalised maximum likelihood (Platt 1999)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, logit

Floats = NDArray[np.float64]

CLIP = 1e-3
"""Scores are clipped to [CLIP, 1 - CLIP] before the logit is taken: scores of exactly 1 are common
and must not bend the line by themselves."""
NEVER_CERTAIN = 1e-6
"""No probability is closer to 0 or 1 than this."""
_RIDGE = 1e-3
_STEPS = 60
_CLOSE = 1e-10


@dataclass(frozen=True, slots=True, kw_only=True)
class Platt:
    """P(correct) = expit(intercept + slope * logit(score)); the slope is never negative."""

    intercept: float
    slope: float

    def __call__(self, scores: ArrayLike) -> Floats:
        """Return probabilities strictly between 0 and 1, same shape as `scores`."""
        line = self.intercept + self.slope * clipped_logit(scores)
        held: Floats = np.clip(expit(line), NEVER_CERTAIN, 1 - NEVER_CERTAIN)
        return held


def clipped_logit(scores: ArrayLike) -> Floats:
    """Return ln(s / (1 - s)) of scores in [0, 1], clipped so that it is finite."""
    clipped: Floats = logit(np.clip(np.asarray(scores, np.float64), CLIP, 1 - CLIP))
    return clipped


def fit_platt(scores: ArrayLike, correct: ArrayLike, labels: ArrayLike) -> Platt:
    """Fit to `correct` of `labels` at each score (arrays of one shape, counts).

    Newton's method with a small ridge and Platt's targets: one pseudo-label each way keeps
    separable and one-sided data finite. A falling fit is replaced by the flat one, so that the
    map stays monotone.
    """
    x = clipped_logit(scores)
    n, right = np.asarray(labels, np.float64), np.asarray(correct, np.float64)
    total, hits = float(n.sum()), float(right.sum())
    high, low = (hits + 1) / (hits + 2), 1 / (total - hits + 2)
    target = right * high + (n - right) * low
    beta = _newton(np.stack([np.ones_like(x), x], axis=1), target, n)
    if beta[1] <= 0:
        mean = (hits + 1) / (total + 2)
        return Platt(intercept=float(logit(mean)), slope=0.0)
    return Platt(intercept=float(beta[0]), slope=float(beta[1]))


def _newton(design: Floats, target: Floats, n: Floats) -> Floats:
    """Maximise the binomial likelihood with a ridge on the distance from the identity map."""
    prior = np.array([0.0, 1.0])
    beta = prior.copy()
    for _ in range(_STEPS):
        chance = expit(design @ beta)
        gradient = design.T @ (target - n * chance) - _RIDGE * (beta - prior)
        weight = np.maximum(n * chance * (1 - chance), 1e-12)
        hessian = (design * weight[:, None]).T @ design + _RIDGE * np.eye(2)
        step = np.linalg.solve(hessian, gradient)
        beta = beta + step / max(1.0, float(np.abs(step).max()) / 4)
        if float(np.abs(step).max()) < _CLOSE:
            break
    return beta
