"""Vectors of texts that were embedded a moment ago: a task is often the same text each time."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sureline.application.ports.embedder import Embedded, EmbeddingModel
from sureline.core.gate.vectors import vector_fault
from sureline.core.values.model_card import Usage

MOST = 256
"""Texts whose vectors are kept: 3 MB at 3,072 numbers each."""

NOTHING_ASKED = Usage(input_tokens=0, output_tokens=0, cost=0.0, calls=0, cached=True)

_LONGEST = 100_000
"""Longer texts are embedded anew: they do not come twice, and hashing them holds up the loop."""


class KeptVectors:
    """An EmbeddingModel that remembers the last `most` texts, by the SHA-256 of their bytes.

    What is kept is of one model: where another answers, everything is embedded anew by it.
    """

    def __init__(self, model: EmbeddingModel, most: int = MOST) -> None:
        self.name = model.name
        self._model = model
        self._most = most
        self._rows: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()
        self._of: tuple[str, str | None] = ("", None)
        self._lock = threading.Lock()

    def forget(self) -> None:
        """Drop everything: a payload was erased, and its vectors must go with it."""
        with self._lock:
            self._rows.clear()

    async def embedded(self, texts: Sequence[str]) -> Embedded:
        """Return the texts' vectors, asking the model only for those that are not kept."""
        keys = [_key(text) for text in texts]
        rows, of = self._kept(keys)
        missing = [index for index, row in enumerate(rows) if row is None]
        if texts and not missing:
            nothing = None if of[1] is None else NOTHING_ASKED
            return Embedded(rows=_stacked(rows), model_id=of[0], answered=of[1], usage=nothing)
        fresh = await self._asked(texts, keys, missing)
        if len(missing) < len(texts) and (fresh.model_id, fresh.answered) != of:
            # What is kept is another model's: it may not stand beside these.
            missing = list(range(len(texts)))
            fresh = await self._asked(texts, keys, missing)
        self._keep([keys[index] for index in missing], fresh)
        if len(missing) == len(texts):
            return fresh
        for index, row in zip(missing, fresh.rows, strict=True):
            rows[index] = row
        return replace(fresh, rows=_stacked(rows))

    async def _asked(
        self, texts: Sequence[str], keys: Sequence[bytes], wanted: Sequence[int]
    ) -> Embedded:
        """Ask the model for the texts at these places, for equal ones once."""
        place: dict[bytes | int, int] = {}
        once: list[str] = []
        for index in wanted:
            same = keys[index] or index
            if same not in place:
                place[same] = len(once)
                once.append(texts[index])
        found = await self._model.embedded(once)
        if len(once) == len(wanted):
            return found
        rows = found.rows[[place[keys[index] or index] for index in wanted]]
        return replace(found, rows=rows)

    def _kept(
        self, keys: Sequence[bytes]
    ) -> tuple[list[NDArray[np.float32] | None], tuple[str, str | None]]:
        """Return the rows that are kept, and whose they are."""
        with self._lock:
            for key in keys:
                if key in self._rows:
                    self._rows.move_to_end(key)
            return [self._rows.get(key) for key in keys], self._of

    def _keep(self, keys: Sequence[bytes], fresh: Embedded) -> None:
        """Keep what can be compared: a fault of a moment must not stay."""
        with self._lock:
            if (fresh.model_id, fresh.answered) != self._of:
                self._rows.clear()
                self._of = (fresh.model_id, fresh.answered)
            for key, row in zip(keys, fresh.rows, strict=True):
                if key and vector_fault(row, fresh.dimension) is None:
                    self._rows[key] = row.copy()
                    self._rows.move_to_end(key)
            while len(self._rows) > self._most:
                self._rows.popitem(last=False)


def _key(text: str) -> bytes:
    """Return the text's digest; nothing for one that is not kept."""
    if len(text) > _LONGEST:
        return b""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _stacked(rows: Sequence[NDArray[np.float32] | None]) -> NDArray[np.float32]:
    return np.stack([row for row in rows if row is not None])
