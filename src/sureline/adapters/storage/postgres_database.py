"""A PostgreSQL database: one connection that writes in batches, a pool that reads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import psycopg
from psycopg.conninfo import conninfo_to_dict

from sureline.adapters.storage.batch_counts import BatchCounts
from sureline.adapters.storage.database import Each, Fetch
from sureline.adapters.storage.fork_guard import guard
from sureline.adapters.storage.gathering import Batch, Crowded, Gathering, Stopped
from sureline.adapters.storage.migrating import Allowed
from sureline.adapters.storage.postgres_clock import DatabaseClock
from sureline.adapters.storage.postgres_commit import PostgresCommit
from sureline.adapters.storage.postgres_driver import Connection, PostgresDriver, connect
from sureline.adapters.storage.postgres_errors import translated
from sureline.adapters.storage.postgres_pool import ReadingPool
from sureline.adapters.storage.postgres_presence import Presence
from sureline.adapters.storage.postgres_reads import PostgresReads
from sureline.adapters.storage.postgres_schema import check_schema, prepare
from sureline.adapters.storage.postgres_switches import FollowedSwitches
from sureline.adapters.storage.statement import Statement
from sureline.adapters.storage.transaction import COMMON_STREAM, Transaction
from sureline.application.ports.store_figures import StoreFigures
from sureline.errors import InvalidInput, StoreBusy, StoreUnavailable

T = TypeVar("T")

READERS = 8
"""Connections that read at once, per process."""
MOST_APART = 64
"""So many longer readings wait for a connection at most, per process."""
READING = 4
"""Times the patience that one of their statements may take."""
LONG_SECONDS = 60.0
"""How long one statement of a long reading may take."""


def readable_address(url: str) -> str:
    """Return a store's address for people: without user and password. Raises InvalidInput."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error as error:
        raise InvalidInput("expected postgresql://user@host/database", field="store") from error
    host, name = parts.get("host", "localhost"), parts.get("dbname", "")
    return f"the database {name!r} on {host}"


class PostgresDatabase:
    """Opens the database at `url` for one writer and a few readers.

    Reads see the newest commit. `patience` is in seconds: so long a lock, a free connection or the
    answer to a statement is waited for, and twice as long for one's turn. Without `to_write` a
    database that can only be read will do. A lost connection is made anew at the next use; once the
    tables are another version's, that raises OtherSchema. Safe to use from several threads.
    """

    common_stream = COMMON_STREAM

    def __init__(self, url: str, *, patience: float, allowed: Allowed, to_write: bool) -> None:
        self.where = readable_address(url)
        self._url, self._patience = url, patience
        self._lock = threading.RLock()
        self._pool: ReadingPool | None = None
        self._writer: Gathering | None = None
        self._commit: PostgresCommit | None = None
        self._reads: Gathering | None = None
        self._asked: PostgresReads | None = None
        self._unusable: str | None = None
        self._counts = BatchCounts()
        self._places = threading.Semaphore(MOST_APART)
        self.clock = DatabaseClock()
        self._presence = Presence(self._connected, self.where)
        self.switches = FollowedSwitches(self.connect, self.where)
        with translated(self.where):
            first = connect(url, patience=patience)
            try:
                self.prepared = prepare(first, self.where, allowed=allowed, to_write=to_write)
                self.secret = self.prepared.secret
                self.clock.ask(first)
            finally:
                first.close()
        guard(self)

    def fetch(self, statement: Statement, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a query, as of the newest commit; asked again if the line broke.

        Raises StoreError.
        """
        self.switches.check_tables()
        pool = self._pool or self._opened_pool()
        with translated(self.where):
            return pool.run(
                lambda connection: connection.execute(statement.postgres, parameters).fetchall()
            )

    async def read(self, statement: Statement, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a short query, asked together with those of other callers."""
        self.switches.check_tables()
        while True:
            reads = self._reads or self._started_reads()
            try:
                return cast("list[Any]", await reads.submit((statement, parameters)))
            except Stopped:
                continue
            except Crowded:
                raise StoreBusy(f"too many wait for {self.where}; try again") from None

    async def apart(self, read: Callable[[Fetch], T]) -> T:
        """Let `read` ask for much or several times on another thread, beside the short reads."""
        places = self._places
        if not places.acquire(blocking=False):
            raise StoreBusy(f"too many wait for {self.where}; try again")
        try:
            return await asyncio.to_thread(read, self.fetch)
        finally:
            places.release()

    @contextmanager
    def reader(self) -> Iterator[Fetch]:
        """Open a reader of its own for a long reading, so that `fetch` is not held up."""
        connection = self._own_connection(longest=LONG_SECONDS)

        def fetch(statement: Statement, parameters: Sequence[Any]) -> list[Any]:
            with translated(self.where):
                return connection.execute(statement.postgres, parameters).fetchall()

        try:
            yield fetch
        finally:
            connection.close()

    @contextmanager
    def snapshot(self) -> Iterator[Each]:
        """Read as of one moment, row by row: what is written meanwhile is not seen."""
        connection = self._own_connection(longest=None)
        try:
            with translated(self.where):
                connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            driver = PostgresDriver(connection, "")

            def each(statement: Statement, parameters: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
                with translated(self.where):
                    yield from driver.each(statement, parameters)

            yield each
        finally:
            connection.close()

    async def write(self, job: Callable[[Transaction], T]) -> T:
        """Run `job` in the next group commit; return once it is durable. Raises StoreError."""
        self.switches.check_tables()
        while True:
            writer = self._writer or self._started_writer()
            try:
                return cast("T", await writer.submit(job))
            except Stopped:  # for a fork, or for good: the next round tells
                continue
            except Crowded:
                raise StoreBusy(
                    f"too many wait for {self.where}; what was to be written now is not stored, "
                    f"try again"
                ) from None

    def look(self, read: Callable[[Connection], T]) -> T:
        """Let `read` ask on a connection that is lent to it. Raises StoreError."""
        with translated(self.where), self._opened_pool().borrowed() as connection:
            return read(connection)

    def log_bytes(self) -> int:
        """Return 0: the server keeps its log short by itself."""
        return 0

    def figures(self) -> StoreFigures:
        """Return what this process's use of the database comes to."""
        writer, pool = self._writer, self._pool
        return self._counts.figures(
            waiting=0 if writer is None else writer.waiting,
            reading=0 if pool is None else pool.lent,
            readers=READERS,
        )

    def close(self) -> None:
        """Write what was handed in and let go; a second time does nothing."""
        with self._lock:
            self._stop()
            self._unusable = self._unusable or "the store is closed"

    def before_fork(self) -> None:
        """Close every connection and keep every thread out until the fork is over.

        A child that inherits one would end the parent's session with its own.
        """
        self._lock.acquire()
        self._stop()

    def after_fork_in_parent(self) -> None:
        """Let the threads in again; the next use connects."""
        self._lock.release()

    def after_fork_in_child(self) -> None:
        """Start anew in the child."""
        self._lock = threading.RLock()
        self._places = threading.Semaphore(MOST_APART)
        self._presence = Presence(self._connected, self.where)
        self.switches.after_fork()

    def connect(self) -> Connection:
        """Open a connection of its own, in autocommit mode.

        Raises psycopg.Error, at once where the server was away a moment ago.
        """
        connection = self._presence.connect()
        connection.silent = self._presence.lost
        return connection

    def _to_read(self) -> Connection:
        connection = self.connect()
        connection.allow(READING * self._patience)
        return connection

    def _connected(self) -> Connection:
        return self._checked(longest=self._patience)

    def _checked(self, *, longest: float | None) -> Connection:
        """Open a connection to tables of this version. Raises psycopg.Error, StoreError."""
        connection = connect(self._url, patience=self._patience, longest=longest)
        try:
            check_schema(connection, self.where)
            self.clock.ask_now(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _own_connection(self, *, longest: float | None) -> Connection:
        self._check_usable()
        with translated(self.where):
            self._presence.check()
            return self._checked(longest=longest)

    def _check_usable(self) -> None:
        with self._lock:
            if self._unusable is not None:
                raise StoreUnavailable(self._unusable)

    def _opened_pool(self) -> ReadingPool:
        with self._lock:
            self._check_usable()
            if self._pool is None:
                self._pool = ReadingPool(
                    self._to_read, self.where, most=READERS, patience=self._patience
                )
            return self._pool

    def _started_writer(self) -> Gathering:
        with self._lock:
            self._check_usable()
            if self._writer is None:
                self._commit = PostgresCommit(self.connect, self.where)
                self._writer = self._gathering(self._counts.over(self._commit), "sureline-writer")
            return self._writer

    def _started_reads(self) -> Gathering:
        with self._lock:
            self._check_usable()
            if self._reads is None:
                self._asked = PostgresReads(self.connect, self.where, before=self.clock.ask)
                self._reads = self._gathering(self._asked, "sureline-reads")
            return self._reads

    def _gathering(self, together: Batch, name: str) -> Gathering:
        return Gathering(together, name=name, longest=2 * self._patience)

    def _stop(self) -> None:
        self.switches.stop()
        self._presence.stop()
        for one in (self._writer, self._reads):
            if one is not None:
                one.close()
        if self._asked is not None:
            self._asked.close()
        if self._commit is not None:
            self._commit.close()
        if self._pool is not None:
            self._pool.close()
        self._writer = self._commit = self._pool = self._reads = self._asked = None
