"""Long texts in windows: what a model cannot take at once is averaged, and never cut off."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def windows(form: str, most: int) -> list[str]:
    """Cut a text into windows of at most `most` characters, between words where there are any.

    An empty text has none.
    """
    found = []
    while len(form) > most:
        end = form.rfind(" ", 1, most + 1)
        end = end if end > 0 else most
        found.append(form[:end])
        form = form[end:].lstrip(" ")
    return [*found, form] if form else found


def unit(row: NDArray[np.float32]) -> NDArray[np.float32]:
    """Scale to unit length; zeros stay zeros."""
    length = np.sqrt(row @ row)
    return row / length if length else row
