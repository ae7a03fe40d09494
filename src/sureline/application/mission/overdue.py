"""Whether a mission's time is over, by a clock that nobody can set back as well (M5)."""

from __future__ import annotations

import threading
from datetime import datetime

from sureline.application.ports.clock import Clock
from sureline.core.values.mission import Mission

MOST_KNOWN = 10_000
"""So many missions are watched by this process's own clock; of more, the oldest are forgotten."""


class Overdue:
    """Remembers when this process first saw each deadline, on a clock that never runs backwards.

    The deadline itself is wall-clock time, so that it counts downtime. Where the wall clock is set
    back, what remained then has still passed; whichever clock says first that it is over, wins.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._until: dict[tuple[str, datetime], float] = {}

    def __call__(self, mission: Mission) -> bool:
        """Tell whether the mission's time has passed."""
        now, steady = self._clock.now(), self._clock.monotonic()
        left = (mission.deadline_at - now).total_seconds()
        key = (mission.id, mission.deadline_at)
        with self._lock:
            until = self._until.setdefault(key, steady + left)
            if mission.state.is_over:
                del self._until[key]
            while len(self._until) > MOST_KNOWN:
                del self._until[next(iter(self._until))]
        return left <= 0 or steady >= until
