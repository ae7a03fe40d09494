"""The past cases with a human verdict, searchable by similarity (G8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

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
class Searched:
    """How cases were searched: `memory`, `exact` or `hnsw` (the last two in the database).

    `ef` is how many candidates HNSW kept; `recall` the share of true neighbours that it found when
    that was measured, `recall_low` what it reaches at least at 95 %. `older` says why cases of the
    policy's window that are not in memory were not searched.
    """

    how: str = "memory"
    ef: int | None = None
    recall: float | None = None
    recall_low: float | None = None
    older: str | None = None

    @property
    def detail(self) -> dict[str, Any]:
        """Return it as the signal's detail states it: codes and figures."""
        figures = {
            "ef": self.ef,
            "recall": None if self.recall is None else round(self.recall, 4),
            "recall_low": None if self.recall_low is None else round(self.recall_low, 4),
            "older": self.older,
        }
        return {
            "searched": self.how,
            **{name: figure for name, figure in figures.items() if figure is not None},
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbourhood:
    """What a search saw: the nearest cases, best first, and how many cases there were.

    `spread` is the standard deviation of the similarities to all cases (how much they
    discriminate); None when there are none.
    """

    neighbours: tuple[Neighbour, ...]
    cases: int
    spread: float | None
    searched: Searched = Searched()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BestCases:
    """The best cases of a window that lies in the database, oldest first.

    `cases` is how many the window has; `spread` is None where it was not computed over them.
    `is_all` tells that there are no others.
    """

    ids: Sequence[str]
    approved: NDArray[np.bool_]
    vectors: NDArray[np.float32]
    cases: int
    spread: float | None
    is_all: bool
    searched: Searched


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredCase:
    """A case as the database has it; `vector` None is one that cannot be used."""

    mark: int
    approved: bool
    vector: NDArray[np.float32] | None


class StoredCases(Protocol):
    """The cases of one embedding model that lie in the database, all of them."""

    async def best(
        self,
        *,
        workspace: str,
        slice_key: str,
        vector: NDArray[np.float32],
        wanted: int,
        window: int,
        until: int,
    ) -> BestCases:
        """Return the `wanted` best of the latest `window` cases, of verdicts up to `until`.

        Raises StoreCorrupt when a vector of this window cannot be used; StoreError when the
        database does not answer in time.
        """

    async def keep_up(self, until: int) -> None:
        """Take in verdicts up to `until`. Raises StoreError."""

    async def contents(self) -> tuple[int, Mapping[tuple[str, str], Mapping[str, StoredCase]]]:
        """Return the place up to which the ledger was read, and all cases.

        Those by workspace and slice, and by the decision's id.
        """


class CaseIndex(Protocol):
    """Finds the most similar past cases of one workspace, slice and embedding model."""

    async def search(
        self, *, workspace: str, slice_key: str, vector: NDArray[np.float32], k: int, window: int
    ) -> Neighbourhood:
        """Return up to `k` nearest of the latest `window` cases; near-duplicates count once."""

    async def refresh(self) -> int:
        """Take in verdicts and deletions that are new; return how many deletions there were."""
