"""Searches in memory where the policy's window is there, and in the database where it is not."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

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


FindStored = Callable[[], Awaitable[StoredCases | str]]
"""Looks for the cases in the database; where there are none, a code says why."""


class BeyondWindow:
    """A CaseIndex: each process's memory for the latest cases, the database for the rest.

    Where there is no database that can search, only what is in memory is searched, and the answer
    says that the rest was not. It is asked again each time: an extension may be installed.
    """

    def __init__(self, memory: ExactCaseIndex, find: FindStored) -> None:
        self.memory = memory
        self._find = find
        self._stored: StoredCases | None = None
        self._is_told = False
        self._kept_up = 0
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
        if window > self.memory.most:
            self._keep_up()
        if self.memory.has_all(workspace, slice_key, window):
            return await self.memory.search(**scope, vector=vector, k=k, window=window)
        stored = await self._found()
        if isinstance(stored, str):
            found = await self.memory.search(**scope, vector=vector, k=k, window=window)
            return self._cut_short(found, window, stored)
        self.memory.check(vector, k, window)
        found = await self._in_database(stored, scope, vector, k, window)
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

    async def _found(self) -> StoredCases | str:
        if self._stored is None:
            found = await self._find()
            if isinstance(found, str):
                return found
            self._stored = found
        return self._stored

    def _cut_short(self, found: Neighbourhood, window: int, why: str) -> Neighbourhood:
        """Say with the answer, and once in the log, that older cases were not searched."""
        if not self._is_told:
            self._is_told = True
            logger.warning(
                "a policy's window has %d cases, but only the latest %d are in memory, and the "
                "store cannot search the others (%s)",
                window,
                self.memory.most,
                why,
            )
        return replace(found, searched=Searched(older=why))

    def _keep_up(self) -> None:
        """Let the database take in what is new meanwhile, so that no search has to wait long."""
        is_busy = self._keeping_up is not None and not self._keeping_up.done()
        if not is_busy and self.memory.cursor > self._kept_up:
            work = self._take_in(self.memory.cursor)
            self._keeping_up = asyncio.get_running_loop().create_task(work)

    async def _take_in(self, until: int) -> None:
        """Take it in; where that fails, the next search does it again, and says so."""
        try:
            stored = await self._found()
            if not isinstance(stored, str):
                await stored.keep_up(until)
                self._kept_up = until
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
