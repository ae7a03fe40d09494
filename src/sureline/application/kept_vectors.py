"""Vectors of texts that were embedded a moment ago: a task is often the same text each time."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sureline.application.ports.embedder import Embedded, EmbeddingModel

MOST = 256
"""Texts whose vectors are kept: 3 MB at 3,072 numbers each."""

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

    def forget(self) -> None:
        """Drop everything: a payload was erased, and its vectors must go with it."""
        self._rows.clear()

    async def embedded(self, texts: Sequence[str]) -> Embedded:
        """Return the texts' vectors, asking the model only for those that are not kept."""
        keys = [_key(text) for text in texts]
        of = self._of
        rows = [self._rows.get(key) for key in keys]
        for key in keys:
            if key in self._rows:
                self._rows.move_to_end(key)
        missing = [index for index, row in enumerate(rows) if row is None]
        if texts and not missing:
            return Embedded(rows=_stacked(rows), model_id=of[0], answered=of[1])
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

    def _keep(self, keys: Sequence[bytes], fresh: Embedded) -> None:
        if (fresh.model_id, fresh.answered) != self._of:
            self._rows.clear()
            self._of = (fresh.model_id, fresh.answered)
        for key, row in zip(keys, fresh.rows, strict=True):
            if key:
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
