"""How many items are in the views that people look at, remembered for some seconds."""

from __future__ import annotations

from sureline.application.ports.clock import Clock
from sureline.application.ports.inbox import FoundCount

MOST_REMEMBERED = 2_000
Key = tuple[object, ...]


class ViewCounts:
    """Counts by whatever they depend on; the oldest make room."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: dict[Key, tuple[float, FoundCount]] = {}

    def get(self, key: Key, *, seconds: float) -> FoundCount | None:
        """Return a count that is no older than `seconds`, None without one."""
        known = self._known.get(key)
        if known is None or self._clock.monotonic() - known[0] > seconds:
            return None
        return known[1]

    def put(self, key: Key, count: FoundCount) -> None:
        """Remember a count."""
        self._known.pop(key, None)
        if len(self._known) >= MOST_REMEMBERED:
            del self._known[next(iter(self._known))]
        self._known[key] = (self._clock.monotonic(), count)
