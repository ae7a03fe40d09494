"""Why a call about an invocation is refused, in what a loop can act on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sureline.core.values.mission import EventKind, Mission, MissionEvent
from sureline.errors import Conflict, MissionRefused, SurelineError
from sureline.web.faults import AtWork, EndedAlready


def at_work(refused: MissionRefused, owner: str, now: datetime) -> SurelineError:
    """Return a refusal with who is at work and until when; where nobody is, as it was.

    `owner` is who asks. A worker that was restarted finds its own invocation by it.
    """
    mission, until = refused.mission, refused.until
    if not isinstance(mission, Mission) or until is None:
        return refused
    told: dict[str, Any] = {"until": until.isoformat()}
    running = mission.running
    if running is not None and running.holds(now):
        told |= {"number": mission.invocations, "yours": running.owner == owner}
    seconds = max(1, math.ceil((until - now).total_seconds()))
    return AtWork(refused.message, code=refused.code, told=told, seconds=seconds)


def not_running(
    refused: Conflict, events: Sequence[MissionEvent], mission_id: str, number: int
) -> SurelineError:
    """Return why an invocation is not running: it has ended, say the events, or was lost.

    Whoever sends an end again, as no answer came to the first, learns that it was taken in.
    """
    ends = {one.invocation for one in events if one.kind is EventKind.INVOCATION_ENDED}
    if number not in ends:
        return refused
    return EndedAlready(
        f"invocation {number} of mission {mission_id!r} has ended already; "
        "what was handed in then counts, and nothing of this was taken in"
    )
