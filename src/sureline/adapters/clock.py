"""The machine's clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class SystemClock:
    """Tells the machine's time."""

    def now(self) -> datetime:
        """Return the current moment in UTC."""
        return datetime.fromtimestamp(time.time(), UTC)

    def monotonic(self) -> float:
        """Return seconds that never run backwards."""
        return time.perf_counter()
