"""Connections that read, lent to one thread at a time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import psycopg
from psycopg.pq import TransactionStatus

from sureline.adapters.storage.postgres_driver import Connection
from sureline.errors import StoreBusy


class ReadingPool:
    """Lends at most `most` connections; who finds none waits `patience` seconds, then StoreBusy.

    A connection comes back whatever its borrower raised, unless it is of no use any more. None is
    made before it is needed, so that nothing has to be done when a server is back.
    """

    def __init__(
        self, connect: Callable[[], Connection], where: str, *, most: int, patience: float
    ) -> None:
        self._connect, self._where = connect, where
        self._most, self._patience = most, patience
        self._free = threading.Semaphore(most)
        self._idle: deque[Connection] = deque()
        self._closed = False
        self._counting = threading.Lock()
        self._lent = 0

    @property
    def lent(self) -> int:
        """Return how many connections are lent now."""
        return self._lent

    @contextmanager
    def borrowed(self) -> Iterator[Connection]:
        """Lend a connection. Raises StoreBusy, and psycopg.Error where none can be made."""
        if not self._free.acquire(timeout=self._patience):
            raise StoreBusy(f"all {self._most} reading connections to {self._where} were in use")
        self._lend(1)
        try:
            connection = self._taken()
            try:
                yield connection
            finally:
                self._take_back(connection)
        finally:
            self._lend(-1)
            self._free.release()

    def drop_idle(self) -> None:
        """Close what nobody uses: an event that broke one line may have broken all."""
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return
            _close(connection)

    def close(self) -> None:
        """Close what nobody uses now, and the rest when it comes back."""
        self._closed = True
        self.drop_idle()

    def _lend(self, more: int) -> None:
        with self._counting:
            self._lent += more

    def _taken(self) -> Connection:
        try:
            return self._idle.pop()
        except IndexError:
            return self._connect()

    def _take_back(self, connection: Connection) -> None:
        status = connection.pgconn.transaction_status
        if self._closed or status != TransactionStatus.IDLE:
            _close(connection)
        else:
            self._idle.append(connection)


def _close(connection: Connection) -> None:
    with suppress(psycopg.Error):
        connection.close()
