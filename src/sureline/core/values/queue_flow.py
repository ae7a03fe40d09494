"""How items of the queue are counted by day: what came, what was decided, what was missed (R9)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

WAITS = tuple(round(2 ** (place / 2)) for place in range(1, 52))
"""Upper ends of the classes of waiting in seconds: each 1.4 times the one before, to a year."""
NO_WAIT = -1
"""The class of what did not wait for a verdict."""


class Flow(StrEnum):
    """What is counted."""

    OPENED = "opened"
    """It came into the queue, on the day of its opening."""
    WITHDRAWN = "withdrawn"
    """It was superseded or erased; counted on the day of its opening, so that it did not come."""
    DECIDED = "decided"
    """Somebody decided, on the day of the verdict."""
    EXPIRED = "expired"
    """Nobody did, on the day of its last deadline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowCell:
    """What an item is counted under; `waited` is the place of its class in WAITS, or NO_WAIT."""

    day: int
    flow: Flow
    waited: int = NO_WAIT
