"""One step of a mission: the state after it, and what there is to write down and to tell."""

from __future__ import annotations

from dataclasses import dataclass

from sureline.core.values.mission import Mission, MissionEvent
from sureline.core.values.notification import Notice


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one transaction writes; a step that changes nothing has the mission as it was."""

    mission: Mission
    events: tuple[MissionEvent, ...] = ()
    notices: tuple[Notice, ...] = ()
