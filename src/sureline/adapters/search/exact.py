"""Exact search of similar past cases in memory, rebuilt from the ledger at every start."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from sureline.adapters.search.bank import CaseBank, Window
from sureline.adapters.search.blas_thread import use_one_blas_thread
from sureline.adapters.search.compare import Compared, compare, compare_all, room_for
from sureline.adapters.search.nearest import nearest, spread_of
from sureline.adapters.search.waiting import Query, WaitingQueries
from sureline.application.ports.cases import Neighbourhood, PastCase
from sureline.core.gate.vectors import usable_vector, vector_fault
from sureline.errors import InvalidInput, StoreCorrupt

MOST_CASES = 20_000
"""Beyond this many verdicts a slice, the oldest go; the default window is 1,000."""

_INLINE_ROWS = 2_000
"""Up to here searching takes less than handing the query to another thread and back."""

_BATCH = 64
"""Queries per matrix product: more gains nothing and needs more memory at once."""

Scope = tuple[str, str]
"""Workspace and slice: there is no way to a case but through both (H17, H19, H23)."""


class CaseSource(Protocol):
    """Where verdicts come from: the ledger, whose rows only people's outcomes make (H10, H11)."""

    async def cases_since(self, cursor: int, model_id: str) -> Sequence[PastCase]:
        """Return verdicts and deletions after `cursor`, oldest first."""


class ExactCaseIndex:
    """A CaseIndex over `source` for the vectors of one embedding model (H04).

    Keeps at most `most` latest cases of every workspace and slice as float32 rows and compares a
    query with each of them. Small windows are searched at once; for larger ones a search thread
    takes all waiting queries into one matrix product. `refused` counts by reason what the source
    gave and could not be taken in: `bad_vector`, `other_model`, `no_scope`.
    """

    def __init__(
        self, source: CaseSource, model_id: str, *, dimension: int, most: int = MOST_CASES
    ) -> None:
        if most < 1:
            raise InvalidInput("expected at least 1", field="most")
        use_one_blas_thread()
        self.model_id = model_id
        self.dimension = dimension
        self.refused: Counter[str] = Counter()
        self._source = source
        self.most = most
        self._banks: dict[Scope, CaseBank] = {}
        self._cursor = 0
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="sureline-search")
        self._scratch = np.empty(room_for(_BATCH), dtype=np.float32)
        self._waiting: WeakKeyDictionary[asyncio.AbstractEventLoop, WaitingQueries] = (
            WeakKeyDictionary()
        )

    @property
    def sizes(self) -> Mapping[Scope, int]:
        """Return the number of cases by workspace and slice."""
        return {scope: len(bank) for scope, bank in self._banks.items() if len(bank)}

    async def search(
        self, *, workspace: str, slice_key: str, vector: NDArray[np.float32], k: int, window: int
    ) -> Neighbourhood:
        """Return up to `k` nearest of the latest `window` cases; near-duplicates count once.

        With fewer than `k` cases nothing is compared. Raises InvalidInput for a vector that is
        not a unit float32 vector of this model's dimension, or for k or window below 1;
        StoreCorrupt when a vector of this window was refused, because a rate over what is left
        could be too good.
        """
        self.check(vector, k, window)
        cases = self._latest(workspace, slice_key, window)
        if cases is None or cases.cases < k:
            count = 0 if cases is None else cases.cases
            return Neighbourhood(neighbours=(), cases=count, spread=None)
        query = Query(window=cases, vector=vector, k=k)
        if len(cases.vectors) <= _INLINE_ROWS:
            return nearest(cases, vector, compare(cases, vector, 2 * k), k)
        return await self._queue().ask(query)

    def check(self, vector: NDArray[np.float32], k: int, window: int) -> None:
        """Raise InvalidInput for a query that nothing can be compared with."""
        fault = vector_fault(vector, self.dimension)
        if fault:
            raise InvalidInput(
                f"{fault}: expected a unit float32 vector of {self.dimension} numbers",
                field="vector",
            )
        if k < 1 or window < 1:
            raise InvalidInput(f"expected k and window of at least 1, got {k} and {window}")

    def has_all(self, workspace: str, slice_key: str, window: int) -> bool:
        """Tell whether the latest `window` cases of a slice are all in memory."""
        bank = self._banks.get((workspace, slice_key))
        return bank is None or bank.is_all or len(bank) >= window

    def spread(self, workspace: str, slice_key: str, vector: NDArray[np.float32]) -> float:
        """Return the spread of the similarities to the cases in memory."""
        bank = self._banks.get((workspace, slice_key))
        return 0.0 if bank is None else spread_of(bank.latest(self.most), vector)

    @property
    def cursor(self) -> int:
        """Return the place in the ledger of the newest verdict or deletion that was taken in."""
        return self._cursor

    async def refresh(self) -> int:
        """Take in verdicts and deletions that are new; return how many deletions there were."""
        deletions = 0
        while cases := await self._source.cases_since(self._cursor, self.model_id):
            newest = cases[-1].cursor
            if newest == self._cursor:
                # Another refresh took these in while this one waited for them.
                break
            # Less than the cursor: the other one took in more than these; read on from there.
            new = [case for case in cases if case.cursor > self._cursor]
            deletions += sum(case.approved is None for case in new)
            self._take_in(new)
        return deletions

    def close(self) -> None:
        """Stop the search thread; searching a large window then raises RuntimeError."""
        self._executor.shutdown(wait=True, cancel_futures=True)

    def _latest(self, workspace: str, slice_key: str, window: int) -> Window | None:
        """Return a scope's latest cases; every read of vectors comes through here."""
        bank = self._banks.get((workspace, slice_key))
        if bank is None:
            return None
        cases = bank.latest(window)
        if cases.unusable:
            raise StoreCorrupt(
                f"slice {slice_key}: {cases.unusable} verdicts have vectors that cannot be used"
            )
        return cases

    def _queue(self) -> WaitingQueries:
        loop = asyncio.get_running_loop()
        queue = self._waiting.get(loop)
        if queue is None:
            queue = self._waiting[loop] = WaitingQueries(self._answer, self._executor)
        return queue

    def _answer(self, queries: list[Query]) -> list[Neighbourhood]:
        """Answer queries in the search thread, those of one window by one product."""
        answers: dict[int, Neighbourhood] = {}
        by_window: dict[int, list[int]] = {}
        for index, query in enumerate(queries):
            by_window.setdefault(id(query.window), []).append(index)
        for indexes in by_window.values():
            for start in range(0, len(indexes), _BATCH):
                part = indexes[start : start + _BATCH]
                window = queries[part[0]].window
                found = self._compare(window, [queries[index] for index in part])
                for compared, index in zip(found, part, strict=True):
                    query = queries[index]
                    answers[index] = nearest(window, query.vector, compared, query.k)
        return [answers[index] for index in range(len(queries))]

    def _compare(self, window: Window, queries: list[Query]) -> list[Compared]:
        wanted = 2 * max(query.k for query in queries)
        if len(queries) == 1:
            return [compare(window, queries[0].vector, wanted, self._scratch)]
        vectors = np.stack([query.vector for query in queries])
        return compare_all(window, vectors, wanted, self._scratch)

    def _take_in(self, cases: Sequence[PastCase]) -> None:
        for case in cases:
            self._cursor = case.cursor
            if case.model_id != self.model_id:
                self.refused["other_model"] += 1
            elif not case.workspace or not case.slice_key:
                self.refused["no_scope"] += 1
            else:
                self._file(case)

    def _file(self, case: PastCase) -> None:
        scope = (case.workspace, case.slice_key)
        bank = self._banks.get(scope)
        if case.approved is None:
            if bank is not None:
                bank.remove(case.decision_id)
            return
        if bank is None:
            bank = self._banks[scope] = CaseBank(self.dimension, self.most)
        vector = usable_vector(case.vector, self.dimension)
        if vector is None:
            self.refused["bad_vector"] += 1
            bank.refuse(case.decision_id, case.cursor)
            return
        bank.put(case.decision_id, vector, approved=case.approved, cursor=case.cursor)
