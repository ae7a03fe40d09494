"""An embedder whose model and dimension are known beforehand, held to what it promises."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sureline.application.ports.embedder import Embedded, Embedder
from sureline.errors import EmbeddingFailed


class FixedModel:
    """Makes an EmbeddingModel of an Embedder: the built-in one, the local one, a program's own."""

    def __init__(self, name: str, embedder: Embedder) -> None:
        self.name = name
        self._embedder = embedder

    async def embedded(self, texts: Sequence[str]) -> Embedded:
        """Return the texts' vectors. Raises EmbeddingFailed for rows of another shape or type."""
        rows = await self._embedder.embed(texts)
        if rows.shape != (len(texts), self._embedder.dimension) or rows.dtype != np.float32:
            raise EmbeddingFailed(f"the embedder gave {rows.dtype} of shape {rows.shape}")
        return Embedded(rows=rows, model_id=self._embedder.model_id)
