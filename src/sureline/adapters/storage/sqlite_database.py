"""A SQLite file: one connection that writes in batches, one that reads."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sureline.adapters.storage.append_decision import AppendDecision, append_decisions
from sureline.adapters.storage.schema import prepare
from sureline.adapters.storage.sqlite_errors import store_error, translated
from sureline.adapters.storage.statement import Statement
from sureline.adapters.storage.transaction import Transaction
from sureline.adapters.storage.writer import Writer
from sureline.errors import StoreBusy, StoreError, StoreUnavailable, SurelineError

T = TypeVar("T")

Job = Callable[[Transaction], Any]

_PRAGMAS = (
    "PRAGMA journal_mode=WAL",
    "PRAGMA synchronous=FULL",
    "PRAGMA secure_delete=ON",  # an erased payload must not stay on a free page
    "PRAGMA wal_autocheckpoint=4000",
    "PRAGMA journal_size_limit=67108864",
    "PRAGMA cache_size=-32768",
    "PRAGMA temp_store=MEMORY",
)


class SqliteDatabase:
    """Opens `target` (a path, or a shared in-memory name) for one reader and one writer.

    Reads run inline on the caller's thread: each sees the newest commit and takes microseconds.
    `busy_timeout` is in seconds.
    """

    def __init__(self, target: str, *, where: str, memory: bool, busy_timeout: float) -> None:
        self.target = target
        self.where = where
        self.memory = memory
        self.busy_timeout = busy_timeout
        self._read_lock = threading.RLock()
        self._writing = self.connect()
        self.secret = prepare(self._writing)
        # Two connections to one in-memory database would block each other, so it has only one.
        self._reading = self._writing if memory else self.connect(read_only=True)
        self._closed = False
        self._writer = Writer(self.write_batch, on_exit=self._writing.close)

    def connect(self, *, read_only: bool = False) -> sqlite3.Connection:
        """Open one more connection, set up like all. Raises StoreError."""
        with translated(self.where):
            connection = sqlite3.connect(
                self.target,
                timeout=self.busy_timeout,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=256,
                uri=self.target.startswith("file:"),
            )
            try:
                for pragma in _PRAGMAS:
                    connection.execute(pragma)
                if read_only:
                    connection.execute("PRAGMA query_only=ON")
            except sqlite3.Error:
                connection.close()
                raise
        return connection

    def fetch(self, statement: Statement, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a query, as of the newest commit. Raises StoreError."""
        with self._read_lock:
            if self._closed:
                raise StoreUnavailable("the store is closed")
            try:
                return self._reading.execute(statement.sql, parameters).fetchall()
            except sqlite3.Error as error:
                raise store_error(error, self.where) from error

    async def write(self, job: Callable[[Transaction], T]) -> T:
        """Run `job` in the next group commit; return once it is on disk. Raises StoreError."""
        return await self._writer.submit(job)

    def write_batch(self, jobs: Sequence[Job]) -> list[Any]:
        """Write all jobs in one transaction; if that fails, each in its own.

        One bad row must not lose its neighbours. A lock that was not let go concerns all, and
        waiting for it once per job would take minutes.
        """
        try:
            return self._commit(jobs)
        except StoreBusy as error:
            return [error] * len(jobs)
        except Exception as error:  # noqa: BLE001 - the writer's boundary: the caller gets it
            if len(jobs) == 1:
                return [error]
        return [self.write_batch([job])[0] for job in jobs]

    def close(self) -> None:
        """Write what was handed in and close both connections."""
        self._writer.close()
        with self._read_lock:
            self._closed = True
            self._reading.close()

    def _commit(self, jobs: Sequence[Job]) -> list[Any]:
        connection = self._writing
        with self._read_lock if self.memory else _NO_LOCK:
            try:
                connection.execute("BEGIN IMMEDIATE")
                transaction = Transaction(connection)
                results = _run(transaction, jobs)
                transaction.seal()
                connection.execute("COMMIT")
            except BaseException as error:
                _roll_back(connection)
                if isinstance(error, sqlite3.Error):
                    raise store_error(error, self.where) from error
                raise
        return results


def _run(transaction: Transaction, jobs: Sequence[Job]) -> list[Any]:
    """Run the jobs; a refusal (such as NotFound) is an answer and does not undo the others.

    A job refuses before it writes anything.
    """
    appends = [job for job in jobs if isinstance(job, AppendDecision)]
    stored = iter(append_decisions(transaction, appends)) if appends else iter(())
    results: list[Any] = []
    for job in jobs:
        if isinstance(job, AppendDecision):
            results.append(next(stored))
            continue
        try:
            results.append(job(transaction))
        except StoreError:
            raise
        except SurelineError as refusal:
            results.append(refusal)
    return results


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:  # SQLite rolls back by itself after some errors
        connection.execute("ROLLBACK")


class _NoLock:
    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


_NO_LOCK = _NoLock()
