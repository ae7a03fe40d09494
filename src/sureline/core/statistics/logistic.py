"""Penalised logistic regression on one variable, by Newton's method with step halving."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STEPS = 100
_CLOSE = 1e-10
_SMALLEST_STEP = 1e-6
_DUST = 1e-12
"""Share of the log posterior below which a loss is rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Normal:
    """A prior on (intercept, slope): independent normal distributions."""

    mean: tuple[float, float]
    precision: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Logistic:
    """The most probable (intercept, slope), and the 2 x 2 covariance of the normal that fits."""

    intercept: float
    slope: float
    covariance: Floats

    @property
    def beta(self) -> Floats:
        """Return intercept and slope as an array."""
        return np.array([self.intercept, self.slope])


def fit_logistic(x: Floats, right: Floats, n: Floats, prior: Normal) -> Logistic:
    """Fit P(correct) = expit(intercept + slope x) to `right` of `n` labels at each `x`.

    Starts at a flat curve and halves a step that does not improve, so that it ends at the one
    maximum whatever the data: full Newton steps alone run away where nearly all are correct.
    """
    design = np.stack([np.ones_like(x), x], axis=1)
    mean, precision = np.array(prior.mean), np.array(prior.precision)
    beta = _flat(right, n)
    gain = _gain(design, right, n, mean, precision, beta)
    hessian = np.diag(precision)
    for _ in range(_STEPS):
        chance = _expit(design @ beta)
        gradient = design.T @ (right - n * chance) - precision * (beta - mean)
        hessian = (design * (n * chance * (1 - chance))[:, None]).T @ design + np.diag(precision)
        step = np.linalg.solve(hessian, gradient)
        size, tried = 1.0, _gain(design, right, n, mean, precision, beta + step)
        least = gain - _DUST * (1 + abs(gain))
        while tried < least and size > _SMALLEST_STEP:
            size /= 2
            tried = _gain(design, right, n, mean, precision, beta + size * step)
        beta, gain = beta + size * step, tried
        if float(np.abs(step).max()) < _CLOSE:
            break
    covariance: Floats = np.linalg.inv(hessian)
    return Logistic(intercept=float(beta[0]), slope=float(beta[1]), covariance=covariance)


def _expit(line: Floats) -> Floats:
    chance: Floats = 1 / (1 + np.exp(-np.clip(line, -500, 500)))
    return chance


def _flat(right: Floats, n: Floats) -> Floats:
    hits, misses = float(right.sum()) + 1, float((n - right).sum()) + 1
    return np.array([np.log(hits / misses), 0.0])


def _gain(
    design: Floats, right: Floats, n: Floats, mean: Floats, precision: Floats, beta: Floats
) -> float:
    """Return the log posterior up to a constant."""
    line = design @ beta
    likelihood = right * line - n * np.logaddexp(0, line)
    return float(likelihood.sum() - 0.5 * (precision * (beta - mean) ** 2).sum())
