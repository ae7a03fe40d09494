"""What the store asks of a database: reads, and writes that many callers share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeVar

from sureline.adapters.storage.migrating import Prepared
from sureline.adapters.storage.statement import Statement
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.clock import Clock
from sureline.application.ports.store_figures import StoreFigures

T = TypeVar("T")

Fetch = Callable[[Statement, Sequence[Any]], list[Any]]
"""Runs a query and returns all rows."""
Each = Callable[[Statement, Sequence[Any]], Iterator[tuple[Any, ...]]]
"""Runs a query and yields its rows one by one."""


class Database(Protocol):
    """An open database; safe to use from several threads and event loops."""

    where: str
    """What errors call it; no password."""
    secret: bytes
    prepared: Prepared
    """What opening it did to its tables."""
    common_stream: str
    """The stream of all ledger rows but decisions: their places are their order."""

    @property
    def clock(self) -> Clock | None:
        """Return the database's time where machines share it, None where they do not."""

    def fetch(self, statement: Statement, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a query, as of the newest commit. Raises StoreError."""

    async def read(self, statement: Statement, parameters: Sequence[Any] = ()) -> list[Any]:
        """Return all rows of a short query, as of the newest commit, without holding up the loop.

        Raises StoreError.
        """

    async def apart(self, read: Callable[[Fetch], T]) -> T:
        """Let `read` ask several times or for much, beside the short reads of others.

        Where a query takes microseconds it is done at once, elsewhere on another thread. Raises
        StoreError, and StoreBusy where too many wait already.
        """

    def reader(self) -> AbstractContextManager[Fetch]:
        """Open a reader of its own for a long reading, so that `fetch` is not held up.

        Each fetch is its own short transaction.
        """

    def snapshot(self) -> AbstractContextManager[Each]:
        """Read as of one moment, row by row: what is written meanwhile is not seen."""

    async def write(self, job: Callable[[Transaction], T]) -> T:
        """Run `job` in the next group commit; return once it is durable. Raises StoreError."""

    def log_bytes(self) -> int:
        """Return the size of the log that a foreign reader may keep growing."""

    def figures(self) -> StoreFigures:
        """Return what this process's use of the database comes to."""

    def close(self) -> None:
        """Write what was handed in and let go; a second time does nothing."""
