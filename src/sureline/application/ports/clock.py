"""Where the time comes from."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class Clock(Protocol):
    """Tells the time."""

    def now(self) -> datetime:
        """Return the current moment in UTC, with its zone."""

    def monotonic(self) -> float:
        """Return seconds that never run backwards, from an arbitrary start."""
