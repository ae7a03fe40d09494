"""How much is still to be told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboxStanding:
    """`waiting` counts what is to be told, notices that nobody took up yet included.

    `oldest` is since when the oldest of it waits, None where nothing does. `dead` deliveries
    failed for good and wait for a person.
    """

    waiting: int
    dead: int
    oldest: datetime | None


class OutboxStandings(Protocol):
    """Tells how the outbox of a workspace stands."""

    async def read(self, workspace: str) -> OutboxStanding:
        """Return how it stands. Raises StoreError."""
