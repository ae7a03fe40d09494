"""Connections to PostgreSQL on which past cases are searched, and nothing else is done."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sureline.adapters.storage.case_vector_rows import set_to_search
from sureline.adapters.storage.fork_guard import guard
from sureline.adapters.storage.postgres_database import PostgresDatabase
from sureline.adapters.storage.postgres_driver import Connection
from sureline.adapters.storage.postgres_errors import translated
from sureline.adapters.storage.postgres_pool import ReadingPool
from sureline.errors import StoreBusy, StoreUnavailable

T = TypeVar("T")

SEARCHES = 4
"""Searches that are asked at once, per process; each has a connection and a thread."""


class CaseConnections:
    """A few connections for searching, each used by one thread at a time.

    They are not those that decisions are read by: a search of a second must not hold them up.
    """

    def __init__(self, database: PostgresDatabase, seconds: float) -> None:
        self._database = database
        self._seconds = seconds
        self._lock = threading.RLock()
        self._pool = ReadingPool(self._connect, database.where, most=SEARCHES, patience=seconds)
        self._threads: ThreadPoolExecutor | None = None
        self._is_closed = False
        guard(self)

    async def run(self, job: Callable[[Connection], T]) -> T:
        """Run `job` on a connection, off the loop. Raises StoreError, StoreBusy after a while."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._seconds):
                return await loop.run_in_executor(self._started(), self._run, job)
        except TimeoutError:
            raise StoreBusy(
                f"{self._database.where} took more than {self._seconds} s to search past cases"
            ) from None

    def close(self) -> None:
        """Let go of connections and threads; a second time does nothing."""
        with self._lock:
            self._is_closed = True
            self._stop()

    def before_fork(self) -> None:
        """Close everything and keep every thread out until the fork is over."""
        self._lock.acquire()
        self._stop()

    def after_fork_in_parent(self) -> None:
        """Let the threads in again; the next use connects."""
        self._lock.release()

    def after_fork_in_child(self) -> None:
        """Start anew in the child."""
        self._lock = threading.RLock()

    def _run(self, job: Callable[[Connection], T]) -> T:
        with translated(self._database.where):
            return self._pool.run(job)

    def _connect(self) -> Connection:
        connection = self._database.connect()
        set_to_search(connection)
        # What is not answered in time is ended by the server: nobody waits for it any more.
        connection.allow(self._seconds)
        return connection

    def _started(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._is_closed:
                raise StoreUnavailable("the store is closed")
            if self._threads is None:
                self._threads = ThreadPoolExecutor(SEARCHES, thread_name_prefix="sureline-cases")
            return self._threads

    def _stop(self) -> None:
        if self._threads is not None:
            self._threads.shutdown(wait=True)
        self._pool.close()
        self._threads = None
