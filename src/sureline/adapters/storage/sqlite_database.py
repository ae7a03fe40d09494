"""A SQLite file: one connection that writes in batches, one that reads."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar, cast

from sureline.adapters.storage.batch_counts import BatchCounts
from sureline.adapters.storage.database import Each, Fetch
from sureline.adapters.storage.fork_guard import guard
from sureline.adapters.storage.gathering import Crowded, Gathering, Stopped
from sureline.adapters.storage.group_commit import GroupCommit
from sureline.adapters.storage.migrating import Allowed, Prepared
from sureline.adapters.storage.schema import prepare, secret_of
from sureline.adapters.storage.sqlite_driver import lenient
from sureline.adapters.storage.sqlite_errors import store_error, translated
from sureline.adapters.storage.statement import Statement
from sureline.adapters.storage.transaction import COMMON_STREAM, Transaction
from sureline.application.ports.store_figures import StoreFigures
from sureline.errors import StoreBusy, StoreReadOnly, StoreUnavailable

T = TypeVar("T")

PRAGMAS = (
    "PRAGMA synchronous=FULL",  # a commit is on the disk before it is acknowledged
    "PRAGMA secure_delete=ON",  # an erased payload must not stay on a free page
    "PRAGMA recursive_triggers=ON",  # REPLACE must not get round the append-only triggers
    "PRAGMA trusted_schema=OFF",
    "PRAGMA wal_autocheckpoint=1000",  # little at a time: the commit that does it waits
    "PRAGMA journal_size_limit=67108864",
    "PRAGMA cache_size=-32768",
    "PRAGMA temp_store=MEMORY",
)


def reading_address(path: Path) -> str:
    """Return the URI under which SQLite reads a file without writing anything, not even beside it.

    Without a write-ahead log nobody has the file open, so it is taken as it is: a log made only
    for reading would stay behind, and its owner could not write it.
    """
    log, shared = Path(f"{path}-wal"), Path(f"{path}-shm")
    in_use = log.exists() and (log.stat().st_size > 0 or shared.exists())
    return f"{path.absolute().as_uri()}?mode=ro{'' if in_use else '&immutable=1'}"


class SqliteDatabase:
    """Opens `target` (a path, or a name in memory) for one writer and one inline reader.

    Reads run on the caller's thread: each sees the newest commit and takes microseconds. In
    memory there is a single connection, so that a read waits for a batch that is being written.
    `busy_timeout` is in seconds. `read_only` says why nothing can be written, if so: then nothing
    is. Safe to use from several threads and event loops.
    """

    common_stream = COMMON_STREAM
    clock = None

    def __init__(
        self,
        target: str,
        *,
        where: str,
        memory: bool,
        busy_timeout: float,
        allowed: Allowed = Allowed(create=True, upgrade=True),  # noqa: B008 - frozen
        read_only: str | None = None,
    ) -> None:
        self.target = target
        self.where = where
        self._memory = memory
        self._busy_timeout = busy_timeout
        self._read_only = read_only
        self._lock = threading.RLock()
        self._sharing: AbstractContextManager[Any] = threading.RLock() if memory else nullcontext()
        self._reading: sqlite3.Connection | None = None
        self._writer: Gathering | None = None
        self._unusable: str | None = None
        self._counts = BatchCounts()
        connection = self._connect()
        try:
            with translated(where):
                self.prepared = (
                    prepare(connection, where, patience=busy_timeout, allowed=allowed)
                    if read_only is None
                    else Prepared(secret=secret_of(connection, where))
                )
            self.secret = self.prepared.secret
            self._start(connection)
        except BaseException:
            connection.close()
            raise
        guard(self)

    def fetch(self, statement: Statement, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a query, as of the newest commit. Raises StoreError."""
        with self._lock, self._sharing:
            connection = self._reading or self._reopen()
            try:
                return connection.execute(statement.sql, parameters).fetchall()
            except sqlite3.Error as error:
                raise store_error(error, self.where) from error

    async def read(self, statement: Statement, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a short query, as `fetch` does: that takes microseconds here."""
        return self.fetch(statement, parameters)

    async def apart(self, read: Callable[[Fetch], T]) -> T:
        """Let `read` ask several times; that takes microseconds here."""
        return read(self.fetch)

    @contextmanager
    def reader(self) -> Iterator[Fetch]:
        """Open a reader of its own for a long reading, so that `fetch` is not held up.

        Each fetch is its own short transaction.
        """
        if self._memory:
            yield self.fetch
            return
        connection = self._reader_of_its_own()

        def fetch(statement: Statement, parameters: Sequence[Any]) -> list[Any]:
            with translated(self.where):
                return connection.execute(statement.sql, parameters).fetchall()

        try:
            yield fetch
        finally:
            connection.close()

    @contextmanager
    def snapshot(self) -> Iterator[Each]:
        """Read as of one moment, row by row: what is written meanwhile is not seen.

        The write-ahead log cannot be emptied meanwhile; in memory, writers wait.
        """
        if self._memory:
            with self._lock, self._sharing:
                yield self._rows_of(self._reading or self._reopen())
            return
        connection = self._reader_of_its_own()
        try:
            with translated(self.where):
                connection.execute("BEGIN")
            yield self._rows_of(connection)
        finally:
            connection.close()

    async def write(self, job: Callable[[Transaction], T]) -> T:
        """Run `job` in the next group commit; return once it is on disk. Raises StoreError."""
        if self._read_only is not None:
            raise StoreReadOnly(self._read_only)
        while True:
            writer = self._writer or self._reopened_writer()
            try:
                return cast("T", await writer.submit(job))
            except Stopped:  # for a fork, or for good: the next round tells
                continue
            except Crowded:
                raise StoreBusy(
                    f"too many wait for {self.where}; what was to be written now is not stored, "
                    f"try again"
                ) from None

    def log_bytes(self) -> int:
        """Return the size of the write-ahead log, which a foreign reader may keep growing."""
        if self._memory:
            return 0
        log = Path(f"{self.target}-wal")
        return log.stat().st_size if log.exists() else 0

    def figures(self) -> StoreFigures:
        """Return what this process's use of the file comes to."""
        writer = self._writer
        return self._counts.figures(waiting=0 if writer is None else writer.waiting)

    def close(self) -> None:
        """Write what was handed in and close the file; a second time does nothing."""
        with self._lock:
            self._stop()
            self._unusable = self._unusable or "the store is closed"

    def before_fork(self) -> None:
        """Close the file and keep every thread out until the fork is over."""
        self._lock.acquire()
        if not self._memory:
            self._stop()

    def after_fork_in_parent(self) -> None:
        """Let the threads in again; the next use opens the file."""
        self._lock.release()

    def after_fork_in_child(self) -> None:
        """Start anew in the child; a store in memory stays behind with the parent."""
        self._lock = threading.RLock()
        if self._memory:
            self._unusable = "a store in memory does not survive a fork; open one in the child"
            self._reading, self._writer = None, None
            self._sharing = nullcontext()  # the parent's writer may have held the lock

    def _connect(self) -> sqlite3.Connection:
        with translated(self.where):
            connection = sqlite3.connect(
                self.target if self._read_only is None else reading_address(Path(self.target)),
                timeout=self._busy_timeout,
                isolation_level=None,
                check_same_thread=False,
                cached_statements=256,
                uri=self._memory or self._read_only is not None,
            )
            try:
                for pragma in PRAGMAS:
                    connection.execute(pragma)
            except sqlite3.Error:
                connection.close()
                raise
        return connection

    def _reader_of_its_own(self) -> sqlite3.Connection:
        connection = self._connect()
        connection.text_factory = lenient
        return connection

    def _rows_of(self, connection: sqlite3.Connection) -> Each:
        def each(statement: Statement, parameters: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
            with translated(self.where):
                yield from connection.execute(statement.sql, parameters)

        return each

    def _start(self, writing: sqlite3.Connection) -> None:
        if self._read_only is not None:
            self._reading = writing
            return
        self._reading = writing if self._memory else self._connect()
        commit = self._counts.over(GroupCommit(writing, self.where, sharing=self._sharing))
        longest = 2 * max(self._busy_timeout, 1.0)
        self._writer = Gathering(commit, name="sureline-writer", longest=longest)
        self._writing = writing

    def _stop(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writing.close()
        if self._reading is not None:
            self._reading.close()
        self._writer = self._reading = None

    def _reopen(self) -> sqlite3.Connection:
        with self._lock:
            if self._unusable is not None:
                raise StoreUnavailable(self._unusable)
            if self._reading is None:
                self._start(self._connect())
            assert self._reading is not None
            return self._reading

    def _reopened_writer(self) -> Gathering:
        with self._lock:
            self._reopen()
            assert self._writer is not None
            return self._writer
