"""The past cases with a human verdict, searchable by similarity (G8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class PastCase:
    """A decided output with its human verdict and its vector (float32 bytes, unit length).

    `cursor` grows with every verdict or deletion in the store. `approved` None removes the case.
    """

    cursor: int
    workspace: str
    slice_key: str
    decision_id: str
    model_id: str
    vector: bytes
    approved: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A similar past case; `similarity` is the cosine in [-1, 1]."""

    decision_id: str
    similarity: float
    approved: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """What a search saw: the nearest cases, best first, and how many cases there were.

    `spread` is the standard deviation of the similarities to all cases (how much they
    discriminate); None when there are none.
    """

    neighbours: tuple[Neighbour, ...]
    cases: int
    spread: float | None


class CaseIndex(Protocol):
    """Finds the most similar past cases of one workspace, slice and embedding model."""

    async def search(
        self, *, workspace: str, slice_key: str, vector: NDArray[np.float32], k: int, window: int
    ) -> Neighbourhood:
        """Return up to `k` nearest of the latest `window` cases; near-duplicates count once."""

    async def refresh(self) -> int:
        """Take in verdicts and deletions that are new; return how many deletions there were."""
