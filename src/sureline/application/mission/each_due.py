"""Move every mission that time has made due, and let none of them hold up another (M5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime

from sureline.application.ports.missions import MissionStore
from sureline.errors import Conflict, NotFound, StoreCorrupt

MOST_DUE = 100
"""So many missions are moved at one look, about; the rest a moment later."""


async def each_due(
    store: MissionStore, workspace: str, now: datetime, move: Callable[[str], Awaitable[bool]]
) -> int:
    """Move what is due, the longest overdue first; return how many missions `move` has moved.

    Those that cannot move stay due: they are looked past, or a hundred of them would hide all
    others.
    """
    looked: set[str] = set()
    moved = 0
    while moved < MOST_DUE:
        due = await store.due(workspace, now, MOST_DUE + len(looked))
        new = [one for one in due if one not in looked]
        if not new:
            break
        looked.update(new)
        for mission_id in new:
            try:
                moved += await move(mission_id)
            except (Conflict, NotFound, StoreCorrupt):
                continue  # a verification tells of what is damaged
    return moved
