"""The machine's clock."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime

from sureline.adapters.steady_time import seconds_since_boot, steady


class SystemClock:
    """Tells the machine's time, which never runs backwards within a process.

    `wall` is the machine's clock, which people and programs set; `elapsed` cannot be set.
    """

    def __init__(
        self,
        *,
        wall: Callable[[], float] = time.time,
        elapsed: Callable[[], float] = seconds_since_boot,
    ) -> None:
        self._wall, self._elapsed = wall, elapsed
        self._last = (elapsed(), wall())

    def now(self) -> datetime:
        """Return the current moment in UTC."""
        # No lock, which a fork could leave held: threads that meet here tell the same time.
        at = self._elapsed()
        before, said = self._last
        told = steady(said, at - before, self._wall())
        self._last = (at, told)
        return datetime.fromtimestamp(told, UTC)

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""
        return time.perf_counter()
