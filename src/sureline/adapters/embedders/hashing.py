"""The built-in embedder: hashed character n-grams, no model, no download."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sureline.adapters.embedders.normal_form import normal_form
from sureline.errors import EmbeddingFailed, InvalidInput

MAX_CHARACTERS = 1_000_000
"""Longer texts are refused, never cut: a cut text would be taken for its own beginning (H12)."""

_INLINE_CHARACTERS = 10_000
"""About a millisecond; what is longer would hold up the event loop and goes to a thread."""

_SIZES = (3, 4, 5)
_BASE = np.uint64(0x100000001B3)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_FOLD = np.uint64(32)
_SIGN = np.uint64(1)
_BUCKET = np.uint64(40)

_WEIGHT_STEPS = 1024
"""Weights are whole multiples of 1/1024: their sums are exact, so no machine rounds differently."""


class HashingEmbedder:
    """Embeds a text as its signed, hashed character n-grams (feature hashing).

    N-grams of 3 to 5 characters of the case-folded normal form, counted sublinearly (1 + ln n),
    each added with a sign to one of `dimension` places (Weinberger et al. 2009), scaled to unit
    length.
    The hash is polynomial over code points in 64-bit arithmetic, so vectors are the same in every
    process and on every machine. The whole text counts.
    """

    def __init__(self, dimension: int = 256) -> None:
        if dimension < 16:
            raise InvalidInput("expected at least 16", field="dimension")
        self.dimension = dimension
        self.model_id = f"hashing-1:char{_SIZES[0]}-{_SIZES[-1]}:nfc-casefold-ws:l2:{dimension}"

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text, shape (len(texts), dimension), float32.

        A text with nothing to see in it gives a row of zeros. Raises EmbeddingFailed for a text
        of more than a million characters.
        """
        characters = max(map(len, texts), default=0)
        if characters > MAX_CHARACTERS:
            raise EmbeddingFailed(
                f"a text has {characters:,} characters; at most {MAX_CHARACTERS:,} are embedded",
                reason="too_long",
            )
        if sum(map(len, texts)) > _INLINE_CHARACTERS:
            return await asyncio.to_thread(self._rows, texts)
        return self._rows(texts)

    def _rows(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            form = normal_form(text).casefold()
            if form:
                row[:] = self._row(form)
        return rows

    def _row(self, form: str) -> NDArray[np.float64]:
        grams = np.sort(_hashes(form))
        first = np.flatnonzero(np.concatenate(([True], grams[1:] != grams[:-1])))
        counts = np.diff(first, append=grams.size)
        mixed = grams[first]
        weights = np.rint((np.log(counts) + 1.0) * _WEIGHT_STEPS)
        weights[(mixed & _SIGN).astype(bool)] *= -1.0
        places = (mixed >> _BUCKET) % np.uint64(self.dimension)
        total = np.bincount(places.astype(np.intp), weights, self.dimension)
        row: NDArray[np.float64] = total.astype(np.float64, copy=False)
        length = np.sqrt(row @ row)
        return row / length if length else row


def _hashes(form: str) -> NDArray[np.uint64]:
    """Return a hash per n-gram of the text, which gets a space at either end."""
    codes = np.frombuffer(f" {form} ".encode("utf-32-le", "surrogatepass"), dtype="<u4")
    points = codes.astype(np.uint64)
    rolling = points
    found = []
    for size in range(2, min(_SIZES[-1], points.size) + 1):
        rolling = rolling[:-1] * _BASE + points[size - 1 :]
        if size >= _SIZES[0]:
            found.append(rolling)
    grams = np.concatenate(found) * _MIX
    grams ^= grams >> _FOLD
    return grams * _MIX
