"""Scores and labels that are known to be usable: nothing else enters a statistic."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sureline.errors import InvalidInput


def checked_scores(scores: ArrayLike) -> NDArray[np.float64]:
    """Return scores in [0, 1] as float64.

    Raises InvalidInput naming the first row (counted from 1) that is no number, NaN, infinite or
    outside [0, 1]. Out of range is an error, never dropped (G19).
    """
    values = _numbers(scores, "score", "a number from 0 to 1")
    good = (values >= 0.0) & (values <= 1.0)
    _refuse_rows(good, values, "score", "a number from 0 to 1")
    return values + 0.0


def checked_labels(labels: ArrayLike) -> NDArray[np.bool_]:
    """Return labels as booleans; 0, 1, False and True are labels.

    Raises InvalidInput naming the first row (counted from 1) that is anything else.
    """
    array = np.asarray(labels)
    if array.dtype == np.bool_:
        return array
    values = _numbers(array, "label", "0 or 1")
    _refuse_rows((values == 0.0) | (values == 1.0), values, "label", "0 or 1")
    correct: NDArray[np.bool_] = values == 1.0
    return correct


def _numbers(values: ArrayLike, field: str, expected: str) -> NDArray[np.float64]:
    array = np.asarray(values)
    if array.dtype.kind not in "biuf":
        array = np.asarray([_number(v, i, field, expected) for i, v in enumerate(array.tolist())])
    if array.ndim != 1:
        raise InvalidInput(f"expected one value a row, got {array.ndim} dimensions", field=field)
    return array.astype(np.float64)


def _number(value: object, index: int, field: str, expected: str) -> float:
    if isinstance(value, bool | int | float):
        return float(value)
    raise InvalidInput(f"row {index + 1}: expected {expected}, got {value!r}", field=field)


def _refuse_rows(
    good: NDArray[np.bool_], values: NDArray[np.float64], field: str, expected: str
) -> None:
    if not good.all():
        row = int(np.argmin(good))
        raise InvalidInput(f"row {row + 1}: expected {expected}, got {values[row]:g}", field=field)
