"""Searches in memory where the policy's window is there, and in the database where it is not."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sureline.adapters.search.bank import Window
from sureline.adapters.search.compare import compare
from sureline.adapters.search.exact import ExactCaseIndex
from sureline.adapters.search.nearest import nearest, reach
from sureline.application.ports.cases import BestCases, Neighbourhood, Searched, StoredCases
from sureline.errors import StoreError

_SPARE = 16
_GROWTH = 8
"""How many times more cases are asked for where near-duplicates were in the way."""
_NOISE = 1e-5
"""By how much the database's similarities may differ from those that are computed here."""

logger = logging.getLogger(__name__)


class BeyondWindow:
    """A CaseIndex: each process's memory for the latest cases, the database for the rest.

    `stored` is None where there is no such database, and `why` says why: then only what is in
    memory is searched, and the answer says that the rest was not.
    """

    def __init__(
        self, memory: ExactCaseIndex, stored: StoredCases | None, why: str | None = None
    ) -> None:
        self.memory = memory
        self._stored = stored
        self._why = why
        self._is_told = False
        self._keeping_up: asyncio.Task[None] | None = None

    async def refresh(self) -> int:
        """Take in verdicts and deletions that are new; return how many deletions there were."""
        return await self.memory.refresh()

    async def search(
        self, *, workspace: str, slice_key: str, vector: NDArray[np.float32], k: int, window: int
    ) -> Neighbourhood:
        """Return up to `k` nearest of the latest `window` cases; near-duplicates count once.

        The answer is that of an ExactCaseIndex which is large enough, wherever the cases are;
        only HNSW may miss some. Raises what that raises, and StoreError.
        """
        scope = {"workspace": workspace, "slice_key": slice_key}
        if window > self.memory.most and self._stored is not None:
            self._keep_up(self._stored)
        has_all = self.memory.has_all(workspace, slice_key, window)
        if has_all or self._stored is None:
            found = await self.memory.search(**scope, vector=vector, k=k, window=window)
            return found if has_all else self._cut_short(found, window)
        self.memory.check(vector, k, window)
        found = await self._in_database(self._stored, scope, vector, k, window)
        if found.neighbours and found.spread is None:
            return replace(found, spread=self.memory.spread(**scope, vector=vector))
        return found

    def close(self) -> None:
        """Stop the search thread of the memory."""
        self.memory.close()

    async def _in_database(
        self,
        stored: StoredCases,
        scope: dict[str, str],
        vector: NDArray[np.float32],
        k: int,
        window: int,
    ) -> Neighbourhood:
        """Ask for so many of the best cases that all others together would change nothing."""
        wanted = 2 * k + _SPARE
        while True:
            best = await stored.best(
                **scope, vector=vector, wanted=wanted, window=window, until=self.memory.cursor
            )
            if best.cases < k:
                return Neighbourhood(
                    neighbours=(), cases=best.cases, spread=None, searched=best.searched
                )
            found, is_settled = _among(best, vector, k)
            if is_settled:
                return found
            wanted *= _GROWTH

    def _cut_short(self, found: Neighbourhood, window: int) -> Neighbourhood:
        """Say with the answer, and once in the log, that older cases were not searched."""
        if self._why is None:
            return found
        if not self._is_told:
            self._is_told = True
            logger.warning(
                "a policy's window has %d cases, but only the latest %d are in memory, and the "
                "store cannot search the others (%s)",
                window,
                self.memory.most,
                self._why,
            )
        return replace(found, searched=Searched(older=self._why))

    def _keep_up(self, stored: StoredCases) -> None:
        """Let the database take in what is new meanwhile, so that no search has to wait long."""
        if self._keeping_up is None or self._keeping_up.done():
            work = stored.keep_up(self.memory.cursor)
            self._keeping_up = asyncio.get_running_loop().create_task(_unheard(work))


async def _unheard(work: Coroutine[Any, Any, None]) -> None:
    """Do it; where it fails, the next search does it again, and says so."""
    try:
        await work
    except StoreError as error:
        logger.warning("past cases are not up to date in the database: %s", error)


def _among(best: BestCases, vector: NDArray[np.float32], k: int) -> tuple[Neighbourhood, bool]:
    """Return the answer of these cases, and whether it is that of all."""
    window = Window(
        vectors=best.vectors,
        approved=best.approved,
        ids=list(best.ids),
        offset=0,
        dead=np.empty(0, dtype=np.intp),
        unusable=0,
    )
    compared = compare(window, vector, 2 * k)
    found = nearest(window, vector, compared, k)
    lowest = float((best.vectors @ vector).min())
    is_settled = (
        best.is_all or lowest < reach(window, vector, compared, k, found.neighbours) - _NOISE
    )
    answer = replace(found, cases=best.cases, spread=best.spread, searched=best.searched)
    return answer, is_settled
