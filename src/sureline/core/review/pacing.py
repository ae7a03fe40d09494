"""When a channel may be used, and when a failed delivery is tried again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

FIRST_WAIT = timedelta(seconds=10)
LONGEST_WAIT = timedelta(hours=2)
TRIES = 22
"""With the waits between them about a day; then a delivery is dead until somebody replays it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """At most one use per `gap` in the long run, and `burst` at once after a pause.

    This is the generic cell rate algorithm (ITU-T I.371): all that is remembered is the moment
    up to which the channel is used up.
    """

    gap: timedelta
    burst: int = 1

    def free(self, used_until: datetime | None, now: datetime) -> int:
        """Return how many uses there are now, from 0 to `burst`."""
        if used_until is None or used_until <= now:
            return self.burst
        return max(0, self.burst - -(-(used_until - now) // self.gap))

    def after(self, used_until: datetime | None, now: datetime, uses: int) -> datetime:
        """Return up to when the channel is used up after so many uses."""
        return (now if used_until is None else max(now, used_until)) + uses * self.gap


def next_try(tries: int, jitter: float, asked: float = 0.0) -> timedelta | None:
    """Return how long to wait after so many failed tries, None if that was the last.

    Waits double from 10 seconds to 2 hours; `jitter` in [0, 1] spreads each by a quarter either
    way, so that what failed together is not tried again together. A receiver that has `asked` for
    more seconds gets them, up to 2 hours.
    """
    if tries >= TRIES:
        return None
    wait = min(FIRST_WAIT * (1 << min(tries - 1, 20)), LONGEST_WAIT)
    least = timedelta(seconds=min(asked, LONGEST_WAIT.total_seconds()))
    return max(wait * (0.75 + 0.5 * jitter), least)
