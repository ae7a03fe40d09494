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
from pathlib import Path
from queue import SimpleQueue

import uvicorn
from raw_insert import read_rows, sample_records
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sureline.adapters.storage.store import open_store

PRAGMAS = ("synchronous=FULL", "wal_autocheckpoint=4000", "cache_size=-32768", "secure_delete=ON")
_TABLES = ("decisions", "payloads", "vectors")
_SEQ, _ID = 1, 4
"""Where a row's place and a decision's id stand."""

Batch = list[tuple[int, asyncio.Future[None]]]


class RawWriter:
    """Inserts copies of one decision's rows on a thread; all that wait share one commit."""

    def __init__(self, path: Path) -> None:
        self._rows = _one_decision(path)
        self._path = path
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
        connection = sqlite3.connect(self._path, isolation_level=None)
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        while batch := self._batches.get():
            connection.execute("BEGIN IMMEDIATE")
            for table, row in self._rows.items():
                marks = ",".join("?" * len(row))
                rows = [_copy(table, row, number) for number, _ in batch]
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)
            connection.execute("COMMIT")
            assert self._loop is not None
            self._loop.call_soon_threadsafe(self._done, batch)

    def _done(self, batch: Batch) -> None:
        self._busy = False
        for _, written in batch:
            if not written.done():
                written.set_result(None)
        self._flush()


def _copy(table: str, row: tuple[object, ...], number: int) -> tuple[object, ...]:
    copied = [*row]
    copied[_SEQ] = number
    if table == "decisions":
        copied[_ID] = os.urandom(16).hex()
    return tuple(copied)


def _one_decision(path: Path) -> dict[str, tuple[object, ...]]:
    """Make a store and return one usual decision's rows by table."""
    store = open_store(f"sqlite:///{path}")
    asyncio.run(store.ledger.append(sample_records(1)[0]))
    store.close()
    return {table: rows[0] for table, rows in read_rows(path).items() if table in _TABLES and rows}


def main() -> None:
    path, port = Path(sys.argv[1]), int(sys.argv[2])
    writer = RawWriter(path)
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
