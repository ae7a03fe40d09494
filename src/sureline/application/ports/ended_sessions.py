"""Sessions that were ended before their time, for every process on a store."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol


class EndedSessions(Protocol):
    """Keeps which sessions are over, until they would have ended by themselves."""

    async def end(self, workspace: str, session: str, *, now: datetime, until: datetime) -> None:
        """End a session for ever; `until` is when its cookie runs out. Twice is as good as once.

        Those whose cookies have run out by `now` are forgotten.
        """

    async def is_over(self, workspace: str, session: str) -> bool:
        """Tell whether a session was ended."""
