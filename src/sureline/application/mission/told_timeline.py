"""Tell each row of a mission's timeline once, whoever wrote it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sureline.core.values.mission import Mission, MissionEvent

Tell = Callable[[Mapping[str, Any]], None]


class ToldTimeline:
    """Knows which rows of one mission's timeline were told; those before it began are not."""

    def __init__(self, tell: Callable[[MissionEvent], None]) -> None:
        self._tell = tell
        self._last: MissionEvent | None = None
        self._version = 0

    def begin(self, mission: Mission, events: Sequence[MissionEvent]) -> None:
        """Take what there is for told."""
        self._last, self._version = events[-1] if events else None, mission.version

    def has_news(self, mission: Mission) -> bool:
        """Tell whether the mission has changed since."""
        return mission.version != self._version

    def tell(self, mission: Mission, events: Sequence[MissionEvent]) -> None:
        """Tell what is new among the latest rows, oldest first."""
        seen = [at for at, one in enumerate(events) if one == self._last]
        for one in events[seen[-1] + 1 if seen else 0 :]:
            self._tell(one)
        self.begin(mission, events)
