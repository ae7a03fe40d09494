"""Connections that read, lent to one thread at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import psycopg
from psycopg.pq import TransactionStatus
from sqlalchemy.exc import TimeoutError as NoneFree
from sqlalchemy.pool import QueuePool

from sureline.adapters.storage.postgres_driver import Connection
from sureline.errors import StoreBusy

T = TypeVar("T")


class ReadingPool:
    """Lends at most `most` connections; who finds none waits `patience` seconds, then StoreBusy.

    A connection comes back whatever its borrower raised, unless it is of no use any more. None is
    made before it is needed, so that nothing has to be done when a server is back.
    """

    def __init__(
        self, connect: Callable[[], Connection], where: str, *, most: int, patience: float
    ) -> None:
        self._most, self._where = most, where
        self._pool = QueuePool(
            connect,  # type: ignore[arg-type]  # a psycopg connection is a DBAPI connection
            pool_size=most,
            max_overflow=0,
            timeout=patience,
            use_lifo=True,
            reset_on_return=None,
        )

    @property
    def lent(self) -> int:
        """Return how many connections are lent now."""
        return self._pool.checkedout()

    @contextmanager
    def borrowed(self) -> Iterator[Connection]:
        """Lend a connection. Raises StoreBusy, and psycopg.Error where none can be made."""
        pool = self._pool
        try:
            loan = pool.connect()
        except NoneFree as error:
            said = f"all {self._most} reading connections to {self._where} were in use"
            raise StoreBusy(said) from error
        connection: Connection = loan.dbapi_connection  # type: ignore[assignment]
        try:
            yield connection
        finally:
            idle = connection.pgconn.transaction_status == TransactionStatus.IDLE
            if not idle or pool is not self._pool:
                loan.invalidate()
            loan.close()

    def run(self, job: Callable[[Connection], T]) -> T:
        """Run `job` on a connection; once more on a new one if the line broke.

        Raises as `borrowed` does, and what `job` raises.
        """
        with self.borrowed() as connection:
            try:
                return job(connection)
            except psycopg.OperationalError:
                if not connection.closed:
                    raise
        # The others may have been cut off by the same event.
        self.drop_idle()
        with self.borrowed() as connection:
            return job(connection)

    def drop_idle(self) -> None:
        """Close what nobody uses: an event that broke one line may have broken all."""
        self.close()

    def close(self) -> None:
        """Close what nobody uses now, and the rest when it comes back."""
        before, self._pool = self._pool, self._pool.recreate()
        before.dispose()
