"""P2's denominator: a bare Starlette application that writes a decision's rows by group commit.

Run: python benchmarks/bare_server.py STORE PORT
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
from raw_insert import Rows, insert_batch, insertion, read_rows, sample_records
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from stores import file_of

from sureline.adapters.storage.sqlite_database import PRAGMAS
from sureline.adapters.storage.store import open_store

_STREAM, _SEQ, _ID = 0, 1, 4
"""Where a row's stream, its place and a decision's id stand."""

Batch = list[tuple[int, asyncio.Future[None]]]


class RawWriter:
    """Inserts copies of one decision's rows on a thread; all that wait share one commit."""

    def __init__(self, store: str) -> None:
        self._rows = _one_decision(store)
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
            write(
                {
                    table: [_copy(table, row, number) for number, _ in batch]
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


def _copy(table: str, row: tuple[object, ...], number: int) -> tuple[object, ...]:
    copied = [*row]
    copied[_STREAM], copied[_SEQ] = "bare", number
    if table == "decisions":
        copied[_ID] = os.urandom(16).hex()
    return tuple(copied)


def _one_decision(store: str) -> dict[str, tuple[object, ...]]:
    """Make a store and return one usual decision's rows by table."""
    opened = open_store(store)
    asyncio.run(opened.ledger.append(sample_records(1)[0]))
    opened.close()
    return {table: rows[0] for table, rows in read_rows(store).items() if rows}


def main() -> None:
    store, port = sys.argv[1], int(sys.argv[2])
    writer = RawWriter(store)
    numbers = itertools.count(1_000)
    record = sample_records(1)[0]
    answer = json.dumps({"body": record.body.decode(), "answer": "a" * 800}).encode()

    async def decide(request: Request) -> Response:
        json.loads(await request.body())
        await writer.insert(next(numbers))
        return Response(answer, status_code=201, media_type="application/json")

    app = Starlette(routes=[Route("/v1/decisions", decide, methods=["POST"])])
    uvicorn.run(app, host="127.0.0.1", port=port, access_log=False, log_level="error")


if __name__ == "__main__":
    main()
