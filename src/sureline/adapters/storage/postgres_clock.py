"""The database's time: what all processes that share a store agree on, whatever their machines say.

It is asked for now and then and carried forward by seconds that nobody sets.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

from sureline.adapters.steady_time import seconds_since_boot, steady
from sureline.adapters.storage.postgres_driver import Connection

ASK_SECONDS = 30.0
SLOW_SECONDS = 1.0
"""An answer that took longer tells the time worse than the last one carried forward."""
_ASK = "SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000000 AS bigint)"


class DatabaseClock:
    """Tells a database's time; see the port `Clock`.

    Within a process it never runs backwards. `elapsed` tells seconds, those in which the machine
    slept included.
    """

    def __init__(self, *, elapsed: Callable[[], float] = seconds_since_boot) -> None:
        self._elapsed = elapsed
        self._ahead = 0.0
        self._asked: float | None = None
        self._last = (0.0, 0.0)

    def now(self) -> datetime:
        """Return the current moment in UTC."""
        # No lock, which a fork could leave held: threads that meet here tell the same time.
        at = self._elapsed()
        before, said = self._last
        told = steady(said, at - before, self._ahead + at)
        self._last = (at, told)
        return datetime.fromtimestamp(told, UTC)

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""
        return time.perf_counter()

    def ask(self, connection: Connection) -> None:
        """Ask a connection, unless one was asked a moment ago. Raises psycopg.Error."""
        asked = self._asked
        if asked is None or self._elapsed() - asked >= ASK_SECONDS:
            self.ask_now(connection)

    def ask_now(self, connection: Connection) -> None:
        """Ask a connection: its answer holds for the middle of the round trip."""
        before = self._elapsed()
        row = connection.execute(_ASK).fetchone()
        after = self._elapsed()
        assert row is not None
        if self._asked is None or after - before <= SLOW_SECONDS:
            self._ahead = row[0] / 1e6 - (before + after) / 2
        self._asked = after
