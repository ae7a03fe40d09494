"""Missions on their tables; a step and all that goes with it are one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, literal_column, or_, select

from sureline.adapters.storage.change_mission import MISSION, ChangeMission, CreateMission
from sureline.adapters.storage.database import Database
from sureline.adapters.storage.erase_mission import EraseMission
from sureline.adapters.storage.mission_rows import (
    COLUMNS,
    EVENT_COLUMNS,
    event_of,
    mission_of,
    missions,
    readable,
)
from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.statement import Statement, compiled, json_list, listed
from sureline.adapters.storage.tables import mission_events
from sureline.application.ports.missions import Change, MissionFilter
from sureline.core.mission.step import Step
from sureline.core.values.mission import Mission, MissionEvent, MissionState

_ANY: Any = literal_column("1")
_LIST = compiled(
    select(*COLUMNS)
    .where(
        missions.c.workspace == bindparam("workspace"),
        or_(bindparam("any_state") == _ANY, missions.c.state.in_(listed("states"))),
        or_(bindparam("any_kind") == _ANY, missions.c.kind.in_(listed("kinds"))),
        or_(bindparam("anybody") == _ANY, missions.c.submitted_by == bindparam("submitted_by")),
    )
    .order_by(missions.c.waits.desc(), missions.c.updated_at.desc(), missions.c.id)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_COUNTS = compiled(
    select(missions.c.kind, missions.c.state, func.count())
    .where(missions.c.workspace == bindparam("workspace"))
    .group_by(missions.c.kind, missions.c.state)
    .order_by(missions.c.kind, missions.c.state)
)
_EVENTS = compiled(
    select(*EVENT_COLUMNS)
    .where(
        mission_events.c.workspace == bindparam("workspace"),
        mission_events.c.mission_id == bindparam("mission_id"),
    )
    .order_by(mission_events.c.seq.desc())
    .limit(bindparam("limit"))
    .offset(literal_column("0"))
)
_DUE = compiled(
    select(*COLUMNS)
    .where(missions.c.workspace == bindparam("workspace"), missions.c.timer_at <= bindparam("now"))
    .order_by(missions.c.timer_at, missions.c.id)
    .limit(bindparam("limit"))
    .offset(literal_column("0"))
)


class SqlMissions:
    """Keeps missions; see the port `MissionStore` for the contract."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def create(self, step: Step) -> Mission:
        """Write a new mission; one whose id is known stays as it is. Raises StoreCorrupt."""
        return await self._database.write(CreateMission(step, self._database.secret))

    async def mission(self, workspace: str, mission_id: str) -> Mission | None:
        """Return a mission, or None. Raises StoreCorrupt if it cannot be read."""
        rows = await self._database.read(MISSION, (workspace, mission_id))
        return mission_of(rows[0]) if rows else None

    async def change(
        self, workspace: str, mission_id: str, make: Callable[[Mission], Change]
    ) -> Change:
        """Do a step; the write lock makes it atomic."""
        return await self._database.write(
            ChangeMission(workspace, mission_id, make, self._database.secret)
        )

    async def list(
        self, workspace: str, wanted: MissionFilter, *, limit: int, offset: int = 0
    ) -> Sequence[Mission]:
        """Return the missions that can be read; read off the loop."""
        row = _LIST.row(
            {
                "workspace": workspace,
                "any_state": int(wanted.states is None),
                "states": json_list(sorted(one.value for one in wanted.states or ())),
                "any_kind": int(wanted.kinds is None),
                "kinds": json_list(sorted(wanted.kinds or ())),
                "anybody": int(wanted.submitted_by is None),
                "submitted_by": wanted.submitted_by or "",
                "limit": limit,
                "offset": offset,
            }
        )
        return list(readable(await self._apart(_LIST, row)))

    async def counts(self, workspace: str) -> dict[str, dict[MissionState, int]]:
        """Return the number of missions by kind and state; a state nobody knows is left out."""
        counts: dict[str, dict[MissionState, int]] = {}
        known = {one.value for one in MissionState}
        for kind, state, count in await self._apart(_COUNTS, (workspace,)):
            if state in known:
                counts.setdefault(kind, {})[MissionState(state)] = int(count)
        return counts

    async def events(
        self, workspace: str, mission_id: str, *, limit: int = 1_000
    ) -> Sequence[MissionEvent]:
        """Return the latest rows of a timeline, oldest first. Raises StoreCorrupt."""
        rows = await self._apart(_EVENTS, (workspace, mission_id, limit))
        return [event_of(row) for row in reversed(rows)]

    async def due(self, workspace: str, now: datetime, limit: int) -> Sequence[str]:
        """Return ids of missions that time has changed and that can be read."""
        rows = await self._database.read(_DUE, (workspace, to_micros(now), limit))
        return [one.id for one in readable(rows)]

    async def erase(self, workspace: str, mission_id: str, event: MissionEvent) -> bool:
        """Erase a mission's words and its evaluations' payloads; one that is not over fails.

        The event is written with the state that the mission has then; its fact `reason` goes into
        the records of the erased payloads. Raises NotFound.
        """
        return await self._database.write(
            EraseMission(workspace=workspace, mission_id=mission_id, event=event)
        )

    async def _apart(self, statement: Statement, parameters: Sequence[Any]) -> Sequence[Any]:
        def read() -> Sequence[Any]:
            with self._database.reader() as fetch:
                return fetch(statement, parameters)

        return await asyncio.to_thread(read)
