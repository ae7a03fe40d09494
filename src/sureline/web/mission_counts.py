"""How many missions wait for a person, for a badge on every page: read once in a while."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress

from sureline.application.ports.clock import Clock
from sureline.application.ports.keys import ApiKey
from sureline.core.values.mission import MissionState
from sureline.core.values.mission_kind import MISSION_SLICE
from sureline.errors import StoreError
from sureline.web.access import may_see

Counts = Mapping[str, Mapping[MissionState, int]]


class MissionCounts:
    """Reads the counts by kind and state at most once in `every` seconds, when somebody asks."""

    def __init__(
        self, read: Callable[[], Awaitable[Counts]], clock: Clock, *, every: float
    ) -> None:
        self._read = read
        self._clock = clock
        self._every = every
        self._latest: Counts = {}
        self._read_at = float("-inf")

    async def seen(self, key: ApiKey) -> dict[MissionState, int]:
        """Return how many missions a key may see, by state; where they cannot be read, as before.

        Whatever page is asked for has its own words for a store that cannot be read.
        """
        now = self._clock.monotonic()
        if now >= self._read_at + self._every:
            self._read_at = now
            with suppress(StoreError):
                self._latest = await self._read()
        counts = dict.fromkeys(MissionState, 0)
        for kind, states in self._latest.items():
            if may_see(key, f"{MISSION_SLICE}{kind}"):
                for state, count in states.items():
                    counts[state] += count
        return counts

    def forget(self) -> None:
        """Read anew when somebody asks next: something has just been done here."""
        self._read_at = float("-inf")
