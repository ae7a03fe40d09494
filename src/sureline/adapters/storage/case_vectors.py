"""Past cases in PostgreSQL: beyond what each process keeps in memory."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sureline.adapters.storage.batch import LongJob
from sureline.adapters.storage.case_connections import CaseConnections
from sureline.adapters.storage.case_vector_rows import (
    CONTENTS,
    CURSOR,
    EXACT_BELOW,
    FILLING,
    FORGET_ALL,
    IS_THERE,
    MAKE,
    READ_AGAIN,
    as_vector,
)
from sureline.adapters.storage.case_vectors_fill import FillCaseVectors
from sureline.adapters.storage.case_vectors_look import (
    CaseQuery,
    Edge,
    Standing,
    edge_of,
    look,
    nothing,
    standing,
)
from sureline.adapters.storage.postgres_database import PostgresDatabase
from sureline.adapters.storage.postgres_driver import Connection
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.cases import BestCases, Searched, StoredCase
from sureline.errors import StoreBusy

T = TypeVar("T")

SEARCH_SECONDS = 2.0
"""How long the database may take for a search, taking in what is new included."""
_MOST_EDGES = 1_000


class PostgresCaseVectors:
    """The table of past cases, where the server has the extension that it needs.

    `seconds` is how long a search may take; windows of fewer than `exact_below` cases are searched
    without an index.
    """

    def __init__(
        self,
        database: PostgresDatabase,
        *,
        seconds: float = SEARCH_SECONDS,
        exact_below: int = EXACT_BELOW,
    ) -> None:
        self.database = database
        self.exact_below = exact_below
        self.seconds = seconds
        self._connections = CaseConnections(database, seconds)
        self._is_there = False

    @property
    def is_there(self) -> bool:
        """Tell whether there is such a table; once there, it stays."""
        if not self._is_there:
            self._is_there = bool(self.database.fetch(IS_THERE)[0][0])
        return self._is_there

    async def make(self) -> str | None:
        """Make the table if it is not there; return what the server says against it."""
        if self.is_there:
            return None
        found = await self.database.write(LongJob(lambda transaction: transaction.first(MAKE)))
        return None if found is None else found[0]

    async def empty(self) -> None:
        """Forget all cases, to take them in again from the ledger."""

        def forget(transaction: Transaction) -> None:
            transaction.first(FILLING)
            transaction.run(FORGET_ALL)
            transaction.run(READ_AGAIN)

        await self.database.write(LongJob(forget))

    def unhurried(self) -> PostgresCaseVectors:
        """Return the same table for whoever wants every answer to be exact and has a minute."""
        return PostgresCaseVectors(self.database, seconds=60.0, exact_below=2**62)

    def of_model(self, model_id: str, dimension: int) -> ModelCaseVectors:
        """Return the cases of one embedding model."""
        return ModelCaseVectors(self, model_id, dimension)

    async def run(self, job: Callable[[Connection], T]) -> T:
        """Run `job` on a connection for searching, off the loop. Raises StoreError."""
        return await self._connections.run(job)

    def close(self) -> None:
        """Let go of the connections; a second time does nothing."""
        self._connections.close()


class ModelCaseVectors:
    """The StoredCases of one embedding model; see the port for the contract."""

    def __init__(self, table: PostgresCaseVectors, model_id: str, dimension: int) -> None:
        self._table = table
        self._model = (model_id, dimension)
        self._edges: dict[tuple[int, int], tuple[int, Edge]] = {}

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
        """Return the `wanted` best of the latest `window` cases, of verdicts up to `until`."""
        model_id, dimension = self._model
        query = CaseQuery(
            workspace=workspace,
            slice_key=slice_key,
            model_id=model_id,
            dimension=dimension,
            vector=vector,
            wanted=wanted,
            window=window,
            exact_below=self._table.exact_below,
        )
        try:
            async with asyncio.timeout(self._table.seconds):
                found = await self._table.run(
                    lambda connection: self._look(connection, query, until)
                )
                while found is None:
                    await self.keep_up(until)
                    found = await self._table.run(
                        lambda connection: self._look(connection, query, until)
                    )
        except TimeoutError:
            raise StoreBusy(
                f"{self._table.database.where} took more than {self._table.seconds} s to take in "
                f"and search past cases; `sureline cases index` takes them in beforehand"
            ) from None
        return found

    async def keep_up(self, until: int, told: Callable[[int], None] = lambda _: None) -> None:
        """Take in verdicts up to `until`; each step is kept, so the next call goes on from there.

        `told` hears of each step how many cases it took in.
        """
        model_id, dimension = self._model
        row = await self._table.database.read(CURSOR, self._model)
        cursor = row[0][0] if row else 0
        while cursor < until:
            job = FillCaseVectors(model_id=model_id, dimension=dimension)
            filled = await self._table.database.write(job)
            if filled.cursor == cursor:
                return
            cursor = filled.cursor
            told(filled.cases)

    async def contents(self) -> tuple[int, dict[tuple[str, str], dict[str, StoredCase]]]:
        """Return the place up to which the ledger was read, and all cases, as of one moment."""

        def read() -> tuple[int, dict[tuple[str, str], dict[str, StoredCase]]]:
            found: dict[tuple[str, str], dict[str, StoredCase]] = {}
            with self._table.database.snapshot() as each:
                cursor = next(each(CURSOR, self._model), (0,))[0]
                for workspace, slice_key, name, mark, approved, sent in each(CONTENTS, self._model):
                    vector = None if sent is None else as_vector(sent)
                    case = StoredCase(mark=mark, approved=approved, vector=vector)
                    found.setdefault((workspace, slice_key), {})[name] = case
            return cursor, found

        return await asyncio.to_thread(read)

    def _look(self, connection: Connection, query: CaseQuery, until: int) -> BestCases | None:
        """Search; None if the table does not follow the ledger up to `until`.

        In no transaction: that would cost twice the round trips. What is taken in or erased
        between the statements is seen by this search or by the next.
        """
        found = standing(connection, query)
        if found.cursor < until:
            return None
        if found.scope is None:
            return nothing(Searched(how="exact"))
        return look(connection, query, found, self._edge(connection, query, found))

    def _edge(self, connection: Connection, query: CaseQuery, found: Standing) -> Edge:
        """Return where the window ends: counting it takes as long as a search by the index.

        It is counted anew with every verdict and deletion that is taken in. What was counted while
        somebody changed the table holds for this search only.
        """
        assert found.scope is not None
        key = (found.scope, query.window)
        kept = self._edges.get(key)
        if kept is not None and kept[0] == found.cursor:
            return kept[1]
        edge = edge_of(connection, found.scope, query.window)
        if len(self._edges) >= _MOST_EDGES:
            self._edges.clear()
        if standing(connection, query).cursor == found.cursor:
            self._edges[key] = (found.cursor, edge)
        return edge
