"""Score bins: a probability, quantised on the logit scale when a decision is recorded.

Bin b of 1 .. 9,999 holds the scores whose logit is in [-12.5 + .0025 b, -12.5 + .0025 (b + 1)); bin
0 holds everything below, bin 10,000 everything above. A bin is thus a floor: `score >= edge(b)` is
true exactly where `score_bin(score) >= b`, so a threshold taken from counts and applied to scores
keeps exactly the decisions that were counted.

Scores crowd near 1, which is why the scale is not linear. The edges are computed in decimal
arithmetic, so that every machine has the same ones whatever its mathematics library.
"""

from __future__ import annotations

from bisect import bisect_right
from decimal import Context, Decimal
from functools import cache
from typing import TYPE_CHECKING

from sureline.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

BINS = 10_001
"""Number of bins; the last is `BINS - 1`."""
WIDTH = 0.0025
"""Width of a bin on the logit scale."""
LIMIT = 12.5
"""Logit beyond which scores share the first or the last bin."""


def _logistic(first: int, step: int, count: int) -> list[float]:
    """Return `count` logistic values from `first`/20000 in steps of `step`/20000, rounded once."""
    exact = Context(prec=50)
    power = exact.exp(Decimal(-first) / 20_000)
    ratio = exact.exp(Decimal(-step) / 20_000)
    values = []
    for _ in range(count):
        values.append(float(exact.divide(Decimal(1), exact.add(Decimal(1), power))))
        power = exact.multiply(power, ratio)
    return values


_UPPER = _logistic(-249_950, 50, BINS - 1)


@cache
def _middles() -> list[float]:
    return [0.0, *_logistic(-249_925, 50, BINS - 2), 1.0]


def score_bin(score: float) -> int:
    """Return the bin, 0 .. 10,000, of a score in [0, 1].

    Raises InvalidInput for NaN and anything outside [0, 1].
    """
    if not 0.0 <= score <= 1.0:
        raise InvalidInput(f"expected a score from 0 to 1, got {score}", field="score")
    return bisect_right(_UPPER, score)


def edge(number: int) -> float:
    """Return the lowest score of a bin (0 for bin 0): the threshold that a bin stands for."""
    _check_bin(number)
    return _UPPER[number - 1] if number else 0.0


def score_of(number: int) -> float:
    """Return the score that represents a bin: its middle on the logit scale.

    0 and 1 for the first and the last bin, which are open.
    """
    _check_bin(number)
    return _middles()[number]


def bins_of(scores: ArrayLike) -> NDArray[np.int64]:
    """Return the bins of scores in [0, 1], same shape. Raises InvalidInput naming the row."""
    import numpy as np

    from sureline.core.statistics.checked import checked_scores

    return np.searchsorted(np.asarray(_UPPER), checked_scores(scores), side="right")


def edges_of(numbers: ArrayLike) -> NDArray[np.float64]:
    """Return the lowest score of each bin, same shape; see `edge`."""
    import numpy as np

    table: NDArray[np.float64] = np.asarray([0.0, *_UPPER])
    return table[np.asarray(numbers, np.int64)]


def scores_of(numbers: ArrayLike) -> NDArray[np.float64]:
    """Return the score that represents each bin, same shape; see `score_of`."""
    import numpy as np

    table: NDArray[np.float64] = np.asarray(_middles())
    return table[np.asarray(numbers, np.int64)]


def _check_bin(number: int) -> None:
    if not 0 <= number < BINS:
        raise InvalidInput(f"expected a bin from 0 to {BINS - 1}, got {number}", field="bin")
