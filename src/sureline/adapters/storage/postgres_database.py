"""A PostgreSQL database: one connection that writes in batches, a pool that reads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg_pool import ConnectionPool, PoolTimeout

from sureline.adapters.storage.database import Each, Fetch
from sureline.adapters.storage.fork_guard import guard
from sureline.adapters.storage.gathering import Gathering, Stopped
from sureline.adapters.storage.postgres_commit import PostgresCommit
from sureline.adapters.storage.postgres_driver import (
    Connection,
    PostgresDriver,
    connect,
    settle,
)
from sureline.adapters.storage.postgres_errors import store_error, translated
from sureline.adapters.storage.postgres_reads import PostgresReads
from sureline.adapters.storage.postgres_schema import prepare
from sureline.adapters.storage.postgres_switches import FollowedSwitches
from sureline.adapters.storage.statement import Statement
from sureline.adapters.storage.transaction import COMMON_STREAM, Transaction
from sureline.errors import InvalidInput, StoreBusy, StoreUnavailable

T = TypeVar("T")

READERS = 8
"""Connections that read at once, per process."""


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

    Reads see the newest commit. `patience` is in seconds: so long a lock or a free connection is
    waited for. Without `to_write` a database that can only be read will do. A connection that was
    lost is made anew at the next use. Safe to use from several threads and event loops.
    """

    common_stream = COMMON_STREAM

    def __init__(self, url: str, *, patience: float, create: bool, to_write: bool) -> None:
        self.where = readable_address(url)
        self._url, self._patience = url, patience
        self._lock = threading.RLock()
        self._pool: ConnectionPool[Connection] | None = None
        self._writer: Gathering | None = None
        self._commit: PostgresCommit | None = None
        self._reads: Gathering | None = None
        self._asked: PostgresReads | None = None
        self._unusable: str | None = None
        self.switches = FollowedSwitches(self.connect, self.where)
        with translated(self.where):
            first = self.connect()
            try:
                self.secret = prepare(first, self.where, create=create, to_write=to_write)
            finally:
                first.close()
        guard(self)

    def fetch(self, statement: Statement, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a query, as of the newest commit; asked again if the line broke.

        Raises StoreError.
        """
        try:
            try:
                return self._fetch(statement, parameters)
            except psycopg.OperationalError:
                # The others may have been cut off by the same event: each is looked at.
                self._opened_pool().check()
                return self._fetch(statement, parameters)
        except psycopg.Error as error:
            raise store_error(error, self.where) from error

    def _fetch(self, statement: Statement, parameters: Sequence[Any]) -> list[Any]:
        with self._borrowed() as connection:
            return connection.execute(statement.postgres, parameters).fetchall()

    async def read(self, statement: Statement, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a short query, asked together with those of other callers."""
        while True:
            reads = self._reads or self._started_reads()
            try:
                return cast("list[Any]", await reads.submit((statement, parameters)))
            except Stopped:
                continue

    @contextmanager
    def reader(self) -> Iterator[Fetch]:
        """Open a reader of its own for a long reading, so that `fetch` is not held up."""
        connection = self._own_connection()

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
        connection = self._own_connection()
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
        while True:
            writer = self._writer or self._started_writer()
            try:
                return cast("T", await writer.submit(job))
            except Stopped:  # for a fork, or for good: the next round tells
                continue

    def log_bytes(self) -> int:
        """Return 0: the server keeps its log short by itself."""
        return 0

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

    def connect(self) -> Connection:
        """Open a connection of its own, in autocommit mode. Raises psycopg.Error."""
        return connect(self._url, patience=self._patience)

    def _own_connection(self) -> Connection:
        with self._lock:
            if self._unusable is not None:
                raise StoreUnavailable(self._unusable)
        with translated(self.where):
            return self.connect()

    @contextmanager
    def _borrowed(self) -> Iterator[Connection]:
        pool = self._pool or self._opened_pool()
        try:
            connection = pool.getconn(timeout=self._patience)
        except PoolTimeout as error:
            raise self._no_connection() from error
        try:
            yield connection
        finally:
            pool.putconn(connection)

    def _no_connection(self) -> StoreUnavailable | StoreBusy:
        """Say why the pool had no connection: the server is away, or all are in use."""
        try:
            self.connect().close()
        except psycopg.Error as error:
            found = store_error(error, self.where)
            return found if isinstance(found, StoreBusy) else StoreUnavailable(found.message)
        return StoreBusy(f"all {READERS} reading connections to {self.where} were in use")

    def _opened_pool(self) -> ConnectionPool[Connection]:
        with self._lock:
            if self._unusable is not None:
                raise StoreUnavailable(self._unusable)
            if self._pool is None:
                self._pool = ConnectionPool(
                    self._url,
                    kwargs={
                        "autocommit": True,
                        "application_name": "sureline",
                        "prepare_threshold": 1,
                        "connect_timeout": max(1, round(self._patience)),
                    },
                    min_size=1,
                    max_size=READERS,
                    configure=lambda connection: settle(connection, self._patience),
                    open=True,
                )
            return self._pool

    def _started_writer(self) -> Gathering:
        with self._lock:
            if self._unusable is not None:
                raise StoreUnavailable(self._unusable)
            if self._writer is None:
                self._commit = PostgresCommit(self.connect, self.where)
                self._writer = Gathering(self._commit, name="sureline-writer")
            return self._writer

    def _started_reads(self) -> Gathering:
        with self._lock:
            if self._unusable is not None:
                raise StoreUnavailable(self._unusable)
            if self._reads is None:
                self._asked = PostgresReads(self.connect, self.where)
                self._reads = Gathering(self._asked, name="sureline-reads")
            return self._reads

    def _stop(self) -> None:
        self.switches.stop()
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
