"""What time alone does to a mission: the deadline, and reminders (M5, M8)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from sureline.core.mission.notices import mission_notice
from sureline.core.mission.step import Step
from sureline.core.mission.transitions import FAILED, moved, stepped
from sureline.core.values.mission import Cause, EventKind, Mission
from sureline.core.values.mission_kind import MissionKind
from sureline.core.values.notification import NoticeKind


def ticked(mission: Mission, kind: MissionKind, *, now: datetime, overdue: bool) -> Step:
    """Return what time has changed by `now`; late rather than never, and a reminder only once.

    `overdue` says that a clock which is never set back has seen the deadline pass. What is being
    evaluated is left to that: it may be achieved.
    """
    if not mission.state.is_over and (overdue or now >= mission.deadline_at):
        if mission.evaluating is not None and mission.evaluating.holds(now):
            return Step(mission=mission)
        return timed_out(mission, kind, now=now)
    return _reminded(mission, kind, now)


def timed_out(mission: Mission, kind: MissionKind, *, now: datetime) -> Step:
    """Return the mission failed for its time is over."""
    facts = {"deadline": mission.deadline_at.isoformat(), "invocations": mission.invocations}
    return moved(mission, kind, FAILED, Cause.DEADLINE, now=now, facts=facts)


def _reminded(mission: Mission, kind: MissionKind, now: datetime) -> Step:
    called = mission.escalation
    if called is None or called.remind_at is None or now < called.remind_at:
        return Step(mission=mission)
    times = called.reminded + 1
    wait = kind.reminders[min(times, len(kind.reminders) - 1)] if kind.reminders else None
    after = replace(
        mission,
        escalation=replace(
            called,
            reminded=times,
            # From now, not from when it was due: what was missed meanwhile is not made up for.
            remind_at=None if wait is None else now + timedelta(seconds=wait),
        ),
    )
    facts = {**called.facts, "waiting": _waited(now - called.since), "reminder": times}
    notice = mission_notice(after, NoticeKind.MISSION_REMINDED, now, facts)
    return stepped(
        mission, after, EventKind.REMINDED, now=now, facts={"reminder": times}, notices=(notice,)
    )


def _waited(time: timedelta) -> str:
    """Return whole hours and minutes, always both: `26 h 5 min`. A clock may be set back."""
    hours, minutes = divmod(max(time, timedelta(0)) // timedelta(minutes=1), 60)
    return f"{hours} h {minutes} min"
