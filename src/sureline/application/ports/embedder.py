"""What turns texts into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from sureline.core.values.model_card import Usage

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Embedded:
    """Unit vectors, one row per text, and the id of the one model that made them all.

    `answered` is what a provider calls the model that answered, `usage` what that took; both are
    None for a model of our own.
    """

    rows: NDArray[np.float32]
    model_id: str
    answered: str | None = None
    usage: Usage | None = None

    @property
    def dimension(self) -> int:
        """Return the length of each vector."""
        return int(self.rows.shape[1])


class EmbeddingModel(Protocol):
    """An embedder under the name that a policy has for it; only its answer tells which model.

    Behind the name of a remote model another one may answer tomorrow.
    """

    name: str

    async def embedded(self, texts: Sequence[str]) -> Embedded:
        """Return the texts' vectors; all of one reply are of one model. Raises EmbeddingFailed.

        A text with nothing in it gives a row of zeros.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingReply:
    """What a provider answered: a row per text, in the order of the texts, and the model's id.

    Nothing about the rows is vouched for: neither their lengths nor that they hold numbers.
    """

    rows: Sequence[Sequence[float]]
    model: str
    usage: Usage = field(default_factory=Usage)


class EmbeddingClient(Protocol):
    """Asks embedding models over the network."""

    async def embed(self, model: str, texts: Sequence[str]) -> EmbeddingReply:
        """Return a row per text; `model` is `provider:name`.

        Raises ModelFailed with the reasons of the port `ModelClient`.
        """
