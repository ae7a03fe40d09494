"""P2's denominator: a bare Starlette application that writes a decision's rows by group commit.

One decision is made by the gate; its rows are written again and again under other ids, and its
answer is given.

Run: python benchmarks/bare_server.py STORE POLICY PORT
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sqlite3
import sys
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

import psycopg
import uvicorn
from filled_store import proposal
from raw_insert import OF_PLACE, Rows, insert_batch, insertion, read_rows
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from stores import file_of

import sureline
from sureline.adapters.storage.line_rows import review_lines
from sureline.adapters.storage.outbox_rows import notices
from sureline.adapters.storage.review_rows import reviews
from sureline.adapters.storage.sqlite_database import PRAGMAS
from sureline.adapters.storage.tables import decisions
from sureline.application.encode import splice

_ID_COLUMNS = {"id", "decision_id", "review_id"}
_NAMED = (decisions, reviews, review_lines, notices)
_IDS: dict[str, list[int]] = {
    **{name: [] for name in OF_PLACE},
    **{
        one.name: [at for at, name in enumerate(one.c.keys()) if name in _ID_COLUMNS]
        for one in _NAMED
    },
}
"""Where the id of a decision stands, or what may be any other text just as well."""

Batch = list[tuple[int, asyncio.Future[None]]]


class RawWriter:
    """Inserts copies of one decision's rows on a thread; all that wait share one commit."""

    def __init__(self, store: str, rows: dict[str, tuple[object, ...]]) -> None:
        self._rows = rows
        self._store = store
        self._pending: Batch = []
        self._busy = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._batches: SimpleQueue[Batch] = SimpleQueue()
        threading.Thread(target=self._serve, daemon=True).start()

    async def insert(self, number: int) -> None:
        """Return once the rows of decision `number` are committed."""
        self._loop = asyncio.get_running_loop()
        written = self._loop.create_future()
        self._pending.append((number, written))
        if len(self._pending) == 1 and not self._busy:
            self._loop.call_soon(self._flush)
        await written

    def _flush(self) -> None:
        if self._pending and not self._busy:
            batch, self._pending, self._busy = self._pending, [], True
            self._batches.put(batch)

    def _serve(self) -> None:
        write = (
            _in_file(self._store)
            if self._store.startswith("sqlite:")
            else _in_database(self._store)
        )
        while batch := self._batches.get():
            named = [(number, os.urandom(16).hex()) for number, _ in batch]
            write(
                {
                    table: [_copy(table, row, number, name) for number, name in named]
                    for table, row in self._rows.items()
                }
            )
            assert self._loop is not None
            self._loop.call_soon_threadsafe(self._done, batch)

    def _done(self, batch: Batch) -> None:
        self._busy = False
        for _, written in batch:
            if not written.done():
                written.set_result(None)
        self._flush()


def _in_file(store: str) -> Callable[[Rows], None]:
    connection = sqlite3.connect(file_of(store), isolation_level=None)
    for pragma in PRAGMAS:
        connection.execute(pragma)

    def write(batch: Rows) -> None:
        connection.execute("BEGIN IMMEDIATE")
        for table, rows in batch.items():
            connection.executemany(insertion(table, rows, "?"), rows)
        connection.execute("COMMIT")

    return write


def _in_database(store: str) -> Callable[[Rows], None]:
    connection: psycopg.Connection[Any] = psycopg.connect(
        store, autocommit=True, prepare_threshold=1
    )
    return lambda batch: insert_batch(connection, batch)


def _copy(table: str, row: tuple[object, ...], number: int, name: str) -> tuple[object, ...]:
    """Return a row as of the decision `name`: in another place, or under another id."""
    copied = [*row]
    if table in OF_PLACE:
        copied[0], copied[1] = "bare", number
    for place in _IDS[table]:
        copied[place] = name
    return tuple(copied)


def _one_decision(store: str, policy: str) -> tuple[dict[str, tuple[object, ...]], bytes]:
    """Make a store and return one decision's rows by table, and its answer."""

    async def decided() -> bytes:
        async with sureline.Gate.open(policy, store=store) as gate:
            made = await gate.decide(**proposal(0))
            stored = await gate.services.ledger.decision("default", made.id)
            assert stored is not None
            return splice(stored.body, stored.answer)

    answer = asyncio.run(decided())
    return {table: rows[0] for table, rows in read_rows(store).items() if rows}, answer


def main() -> None:
    store, policy, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
    rows, answer = _one_decision(store, policy)
    writer = RawWriter(store, rows)
    numbers = itertools.count(1_000)

    async def decide(request: Request) -> Response:
        json.loads(await request.body())
        await writer.insert(next(numbers))
        return Response(answer, status_code=201, media_type="application/json")

    app = Starlette(routes=[Route("/v1/decisions", decide, methods=["POST"])])
    uvicorn.run(app, host="127.0.0.1", port=port, access_log=False, log_level="error")


if __name__ == "__main__":
    main()
