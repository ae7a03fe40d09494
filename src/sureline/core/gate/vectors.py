"""What a vector must be before it may say anything about similarity."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_LENGTH_TOLERANCE = 1e-3
"""A float32 sum over a thousand squares is off by less than 1e-4; a forgotten scaling by more."""


def vector_fault(vector: NDArray[np.float32], dimension: int) -> str | None:
    """Say by reason code why `vector` cannot be compared by cosine, or None if it can.

    `bad_vector`: another type or shape than float32 (dimension,), a component that is not
    finite, or not of unit length (H20). `empty_text`: all zeros, which is what a text with
    nothing in it gives (H06, H07).
    """
    if vector.dtype != np.float32 or vector.shape != (dimension,):
        return "bad_vector"
    # One sum finds NaN and infinities too: squares never cancel.
    with np.errstate(over="ignore", invalid="ignore"):
        square = float(vector @ vector)
    if square == 0.0:
        return "bad_vector" if vector.any() else "empty_text"
    if not math.isfinite(square) or abs(math.sqrt(square) - 1.0) > _LENGTH_TOLERANCE:
        return "bad_vector"
    return None


def usable_vector(stored: bytes, dimension: int) -> NDArray[np.float32] | None:
    """Read a stored vector (little-endian float32) at unit length; None if it cannot be compared.

    What was stored is off by rounding at most; scaled once more, equal texts are exactly equal.
    """
    if len(stored) % 4:
        return None
    vector = np.frombuffer(stored, dtype="<f4").astype(np.float32, copy=False)
    if vector_fault(vector, dimension):
        return None
    unit: NDArray[np.float32] = vector / np.sqrt(vector @ vector)
    return unit
