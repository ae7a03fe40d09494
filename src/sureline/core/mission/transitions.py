"""The states of a mission and the ways between them; the only place where a state changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from sureline.core.mission.notices import mission_notice
from sureline.core.mission.step import Step
from sureline.core.values.mission import (
    Cause,
    Escalation,
    EventKind,
    Mission,
    MissionEvent,
    MissionState,
)
from sureline.core.values.mission_kind import MissionKind
from sureline.core.values.notification import Notice, NoticeKind
from sureline.errors import Conflict

CREATED, ACTIVE = MissionState.CREATED, MissionState.ACTIVE
SUSPENDED = MissionState.SUSPENDED
COMPLETED, FAILED = MissionState.COMPLETED, MissionState.FAILED

WAYS: Mapping[tuple[MissionState, MissionState], EventKind] = {
    (CREATED, ACTIVE): EventKind.STARTED,
    (CREATED, SUSPENDED): EventKind.SUSPENDED,
    (CREATED, COMPLETED): EventKind.COMPLETED,
    (CREATED, FAILED): EventKind.FAILED,
    (ACTIVE, SUSPENDED): EventKind.SUSPENDED,
    (ACTIVE, COMPLETED): EventKind.COMPLETED,
    (ACTIVE, FAILED): EventKind.FAILED,
    (SUSPENDED, ACTIVE): EventKind.RESUMED,
    (SUSPENDED, COMPLETED): EventKind.COMPLETED,
    (SUSPENDED, FAILED): EventKind.FAILED,
    (FAILED, ACTIVE): EventKind.EXTENDED,
}
"""Every transition there is, with what it is called in the timeline."""

REOPENED = frozenset({Cause.DEADLINE, Cause.CEILING})
"""Only what failed by a limit goes on again, once a person has raised the limit."""

NOTE = "note"
"""The fact that holds a person's words; it stays in the ledger and is told to nobody."""

_TOLD = {
    SUSPENDED: NoticeKind.MISSION_SUSPENDED,
    FAILED: NoticeKind.MISSION_FAILED,
    COMPLETED: NoticeKind.MISSION_COMPLETED,
}


def moved(
    mission: Mission,
    kind: MissionKind,
    to: MissionState,
    cause: Cause,
    *,
    now: datetime,
    by: str | None = None,
    facts: Mapping[str, Any] | None = None,
) -> Step:
    """Return the mission in another state, with its event and what there is to tell.

    Entering `suspended` calls a person, once, and sets the first reminder; leaving it tells that
    this is over. What was running is left to end by itself and finds the new state. Raises
    Conflict for what is no transition.
    """
    if mission.state is to and to is not ACTIVE:
        stands = "has failed" if to is FAILED else f"is {to.value}"
        raise Conflict(f"the mission {stands} already")
    event = WAYS.get((mission.state, to))
    if event is None or (mission.state is FAILED and mission.cause not in REOPENED):
        raise Conflict(f"a mission that is {mission.state.value} cannot become {to.value}")
    told = dict(facts or {})
    after = replace(
        mission,
        state=to,
        cause=cause,
        escalation=_escalation(kind, to, cause, now, told),
        ended_at=now if to.is_over else None,
        # A verdict that is on its way was asked for before this: it must not count after it.
        evaluating=mission.evaluating if to is ACTIVE else None,
    )
    return stepped(
        mission,
        after,
        event,
        now=now,
        by=by,
        facts=told,
        notices=_notices(mission, after, now, told),
    )


def stepped(
    before: Mission,
    after: Mission,
    event: EventKind,
    *,
    now: datetime,
    by: str | None = None,
    facts: Mapping[str, Any] | None = None,
    notices: tuple[Notice, ...] = (),
) -> Step:
    """Return a step with one event; the version counts on from `before`."""
    done = replace(after, version=before.version + 1, updated_at=now)
    row = event_of(done, event, now=now, by=by, facts=facts)
    return Step(mission=done, events=(row,), notices=notices)


def then(first: Step, second: Step) -> Step:
    """Return two steps as one; the second was made of the first's mission."""
    return Step(
        mission=second.mission,
        events=first.events + second.events,
        notices=first.notices + second.notices,
    )


def event_of(
    mission: Mission,
    event: EventKind,
    *,
    now: datetime,
    by: str | None = None,
    facts: Mapping[str, Any] | None = None,
) -> MissionEvent:
    """Return a row of the timeline of a mission as it stands after it."""
    return MissionEvent(
        workspace=mission.workspace,
        mission_id=mission.id,
        kind=event,
        at=now,
        state=mission.state,
        cause=mission.cause,
        invocation=mission.invocations,
        by=by,
        facts=dict(facts or {}),
    )


def _escalation(
    kind: MissionKind, to: MissionState, cause: Cause, now: datetime, facts: Mapping[str, Any]
) -> Escalation | None:
    """Return what a person is called for.

    Also where one suspended it by hand: that may be whoever brought it, who cannot let it go on.
    """
    if to is not SUSPENDED:
        return None
    first = kind.reminders[0] if kind.reminders else None
    return Escalation(
        cause=cause,
        since=now,
        remind_at=None if first is None else now + timedelta(seconds=first),
        facts={name: value for name, value in facts.items() if name != NOTE},
    )


def _notices(
    before: Mission, after: Mission, now: datetime, facts: Mapping[str, Any]
) -> tuple[Notice, ...]:
    found = []
    if before.escalation is not None and after.escalation is None:
        found.append(mission_notice(after, NoticeKind.MISSION_RECOVERED, now, {}))
    told = _TOLD.get(after.state)
    if told is not None:
        figures = {name: value for name, value in facts.items() if name != NOTE}
        found.append(mission_notice(after, told, now, figures))
    return tuple(found)
