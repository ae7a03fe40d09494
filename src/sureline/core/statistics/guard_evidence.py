"""The evidence of one restart of the guard: how much the errors since then speak against it.

Under the null hypothesis at most a share epsilon = 1 - target of the automated outputs is wrong.
With S errors among t audited ones, the evidence is the likelihood ratio of a larger share, mixed
over a Beta(1, target / epsilon) prior cut off at epsilon, against epsilon itself (Robbins 1970;
Ramdas et al. 2023, "Game-theoretic statistics"). Each ratio rises in S, so its expectation is at
most 1 wherever the true share is epsilon or less, also where that share changes over time.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

_TINY = 1e-200
"""Tails smaller than this are taken from the continued fraction, long before they underflow."""
_STEPS = 400
_CLOSE = 1e-13


def log_evidence(errors: ArrayLike, labels: ArrayLike, target: float) -> Floats:
    """Return ln of the evidence, in nats, of `errors` among `labels` audited outputs, same shape.

    Counts may be fractions (expected counts), 0 <= errors <= labels. 0 labels give 0. Never NaN;
    finite for any counts, also where the incomplete beta function underflows.
    """
    wrong = np.asarray(errors, np.float64)
    right = np.asarray(labels, np.float64) - wrong
    epsilon = 1.0 - target
    one, prior = 1.0 + wrong, target / epsilon
    other = prior + right
    tail = scipy.special.betaincc(one, other, epsilon)
    plain = (
        scipy.special.betaln(one, other)
        + np.log(np.maximum(tail, _TINY))
        - wrong * np.log(epsilon)
        - right * np.log1p(-epsilon)
    )
    far = tail < _TINY
    if np.any(far):
        # The powers of epsilon cancel in this form, so nothing is lost at any size.
        fraction = _log_fraction(other[far], one[far], target)
        plain[far] = np.log(epsilon) + prior * np.log1p(-epsilon) - np.log(other[far]) + fraction
    start = scipy.special.betaln(1.0, prior) + np.log(scipy.special.betaincc(1.0, prior, epsilon))
    mixed: Floats = plain - start
    return mixed


def _log_fraction(p: Floats, q: Floats, x: float) -> Floats:
    """Return ln h, where I_x(p, q) = x^p (1 - x)^q / (p B(p, q)) h (DLMF 8.17.22, by Lentz).

    Meant for x well below p / (p + q), where it converges within a few dozen steps.
    """
    numerator, ratio, value = np.ones_like(p), np.zeros_like(p), np.ones_like(p)
    for step in range(1, _STEPS):
        m = step // 2
        if step % 2:
            term = -(p + m) * (p + q + m) * x / ((p + 2 * m) * (p + 2 * m + 1))
        else:
            term = m * (q - m) * x / ((p + 2 * m - 1) * (p + 2 * m))
        ratio = 1.0 / (1.0 + term * ratio)
        numerator = 1.0 + term / numerator
        change = numerator * ratio
        value = value * change
        if np.all(np.abs(change - 1.0) < _CLOSE):
            break
    inverse: Floats = -np.log(value)
    return inverse
