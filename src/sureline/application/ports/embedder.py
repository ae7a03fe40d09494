"""What turns texts into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """Embeds texts; `model_id` names model, revision and normalisation (H04)."""

    model_id: str
    dimension: int

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return one unit vector per text, shape (len(texts), dimension), float32.

        A text with nothing in it gives a row of zeros. Raises EmbeddingFailed.
        """
