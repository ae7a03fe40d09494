"""Exact binomial tests and bounds of a precision, and the labels that they need (STATISTICS §1)."""

from __future__ import annotations

import math

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from sureline.errors import InvalidInput


def check_level(target: float, delta: float) -> None:
    """Refuse a target precision or failure probability that is not strictly between 0 and 1."""
    for name, value in (("target", target), ("delta", delta)):
        if not 0.0 < value < 1.0:
            raise InvalidInput(f"expected a number between 0 and 1, got {value}", field=name)


def p_value(correct: ArrayLike, labels: ArrayLike, target: float) -> NDArray[np.float64]:
    """Return P(Bin(labels, target) >= correct), the exact p-value of "precision < target".

    `correct` and `labels` are counts of one shape, 0 <= correct <= labels. The p-value is <= delta
    exactly where the one-sided Clopper-Pearson lower bound at 1 - delta is >= target.
    """
    right = np.asarray(correct, np.float64)
    wrong = np.asarray(labels, np.float64) - right
    tail = scipy.special.betainc(np.maximum(right, 0.5), wrong + 1.0, target)
    return np.where(right > 0, tail, 1.0)


def evidence(correct: ArrayLike, labels: ArrayLike, target: float) -> NDArray[np.float64]:
    """Return -ln of the p-value, in nats, capped at 690 where it would underflow."""
    return -np.log(np.maximum(p_value(correct, labels, target), 1e-300))


def lower_bound(correct: ArrayLike, labels: ArrayLike, delta: float) -> NDArray[np.float64]:
    """Return the one-sided Clopper-Pearson lower bound of a precision at confidence 1 - delta."""
    right = np.asarray(correct, np.float64)
    wrong = np.asarray(labels, np.float64) - right
    return np.where(
        right > 0, scipy.special.betaincinv(np.maximum(right, 0.5), wrong + 1.0, delta), 0.0
    )


def upper_bound(correct: ArrayLike, labels: ArrayLike, delta: float) -> NDArray[np.float64]:
    """Return the one-sided Clopper-Pearson upper bound of a precision at confidence 1 - delta."""
    right = np.asarray(correct, np.float64)
    wrong = np.asarray(labels, np.float64) - right
    bound = scipy.special.betaincinv(right + 1.0, np.maximum(wrong, 0.5), 1.0 - delta)
    return np.where(wrong > 0, bound, 1.0)


def labels_needed(errors: int, target: float, delta: float) -> int:
    """Return the fewest labels in a band that prove `target` in spite of `errors` wrong ones.

    59, 93 and 124 for 0, 1 and 2 errors at target .95 and delta .05. A band among several is held
    to a little more than this; no band can do with less.
    """
    check_level(target, delta)
    if errors < 0:
        raise InvalidInput(f"expected 0 or more, got {errors}", field="errors")
    low, high = errors, max(16, 2 * errors)
    while scipy.special.bdtr(errors, high, 1.0 - target) > delta:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if scipy.special.bdtr(errors, middle, 1.0 - target) > delta:
            low = middle
        else:
            high = middle
    return high


def smallest_band(target: float, delta: float) -> int:
    """Return the fewest labels, all correct, that prove `target`: the least k, target**k <= delta.

    The comparison allows for rounding, so that .5 and .25 give 2 and not 3.
    """
    check_level(target, delta)
    return max(1, math.ceil(math.log(delta) / math.log(target) - 1e-9))
