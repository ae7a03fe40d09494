"""So many requests per key and second, and some more in one go: a token bucket each."""

from __future__ import annotations

from sureline.application.ports.clock import Clock
from sureline.errors import RateLimited

MOST_KEYS = 10_000
"""Keys remembered; beyond, the one that was filled up longest ago is forgotten."""


class RateLimit:
    """Lets each key make `per_second` requests, and up to `burst` after a pause."""

    def __init__(self, clock: Clock, *, per_second: float, burst: float) -> None:
        self._clock = clock
        self._per_second = per_second
        self._burst = max(1.0, burst)
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, key_id: str) -> None:
        """Count one request. Raises RateLimited when the key has none left."""
        now = self._clock.monotonic()
        tokens, since = self._buckets.get(key_id, (self._burst, now))
        tokens = min(self._burst, tokens + (now - since) * self._per_second)
        if tokens < 1.0:
            raise RateLimited(f"this key may make {self._per_second:g} requests a second")
        if key_id not in self._buckets and len(self._buckets) >= MOST_KEYS:
            del self._buckets[next(iter(self._buckets))]
        self._buckets[key_id] = (tokens - 1.0, now)
