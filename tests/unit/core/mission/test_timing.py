"""What time alone does to a mission: its deadline, and ever rarer reminders (M5, M8)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from sureline.core.mission.acting import resumed, suspended
from sureline.core.mission.record import mission_from_record, mission_record
from sureline.core.mission.step import Step
from sureline.core.mission.timing import ticked
from sureline.core.mission.transitions import moved
from sureline.core.values.mission import Cause, EventKind, Lease, Mission, MissionState
from sureline.core.values.mission_kind import MissionKind
from sureline.core.values.notification import NoticeKind
from sureline.testing import MOMENT
from tests.a_mission import KIND, a_mission

HOUR = timedelta(hours=1)
LATE = MOMENT + 24 * HOUR
LIVE = Lease(owner="w1", since=MOMENT, until=LATE + HOUR)


def tick(
    mission: Mission, now: datetime, kind: MissionKind = KIND, *, overdue: bool = False
) -> Step:
    return ticked(mission, kind, now=now, overdue=overdue)


def unsure(kind: MissionKind = KIND, **changes: Any) -> Mission:
    """Return a mission that waits for a person since MOMENT."""
    facts = {"confidence": 0.41, "achieved": True, "note": "Wait."}
    mission = a_mission(deadline_at=MOMENT + 9_000 * HOUR, **changes)
    step = moved(mission, kind, MissionState.SUSPENDED, Cause.UNSURE, now=MOMENT, facts=facts)
    return step.mission


def test_nothing_changes_before_the_deadline() -> None:
    """A microsecond earlier it is as it was."""
    mission = a_mission()
    assert tick(mission, LATE - timedelta(microseconds=1)) == Step(mission=mission)


@pytest.mark.parametrize(
    "state", [MissionState.CREATED, MissionState.ACTIVE, MissionState.SUSPENDED]
)
@pytest.mark.parametrize(("now", "overdue"), [(LATE, False), (MOMENT, True)], ids=["wall", "other"])
def test_past_it_a_mission_fails_once(state: MissionState, now: datetime, overdue: bool) -> None:
    """Whether it works, waits or has not begun, by whichever clock; told once, late or not."""
    step = tick(a_mission(state=state), now, overdue=overdue)
    assert (step.mission.state, step.mission.cause) == (MissionState.FAILED, Cause.DEADLINE)
    (event,) = step.events
    assert event.facts == {"deadline": LATE.isoformat(), "invocations": 3}
    assert [one.kind for one in step.notices] == [NoticeKind.MISSION_FAILED]
    assert tick(step.mission, now + HOUR, overdue=overdue) == Step(mission=step.mission)
    assert step.mission.timer_at is None


def test_what_is_being_evaluated_is_left_alone() -> None:
    """It may be achieved; once its lease is over it fails."""
    mission = a_mission(evaluating=LIVE)
    assert tick(mission, LATE) == Step(mission=mission)
    assert tick(mission, LIVE.until).mission.state is MissionState.FAILED


def reminders(mission: Mission, kind: MissionKind = KIND, hours: int = 100) -> list[float]:
    """Return after how many hours somebody is reminded, looked at every half hour."""
    found = []
    for half in range(1, 2 * hours):
        step = tick(mission, MOMENT + half * HOUR / 2, kind)
        found += [half / 2] * len(step.notices)
        mission = step.mission
    return found


def test_reminders_come_ever_rarer_and_the_last_wait_repeats() -> None:
    """After 1, 4, 12, and then every 24 hours."""
    assert reminders(unsure()) == [1, 5, 17, 41, 65, 89]
    once = replace(KIND, reminders=(7200.0,))
    assert reminders(unsure(once), once, hours=8) == [2, 4, 6]


def test_without_a_schedule_there_are_none() -> None:
    """The call at the edge is the only one."""
    never = replace(KIND, reminders=())
    mission = unsure(never)
    assert reminders(mission, never) == []
    assert mission.timer_at == mission.deadline_at


def test_after_a_day_without_timers_there_is_one_reminder() -> None:
    """What was missed is not made up for, and the next wait begins now."""
    step = tick(unsure(), MOMENT + 30 * HOUR)
    assert len(step.notices) == 1
    assert step.mission.escalation is not None
    assert step.mission.escalation.remind_at == MOMENT + 34 * HOUR


def test_what_a_reminder_says() -> None:
    """What the person was called for, with its figures, how long ago, and which reminder it is."""
    step = tick(unsure(), MOMENT + HOUR)
    (notice,), (event,) = step.notices, step.events
    assert (notice.kind, notice.level) == (NoticeKind.MISSION_REMINDED, 1)
    assert notice.facts == {
        "mission": "m-1",
        "cause": "unsure",
        "confidence": "0.41",
        "achieved": "true",
        "waiting": "1 h 0 min",
        "reminder": "1",
    }
    assert (event.kind, event.facts) == (EventKind.REMINDED, {"reminder": 1})
    again = tick(step.mission, MOMENT + 5 * HOUR)
    assert again.notices[0].level == 2
    assert again.notices[0].id != notice.id


def test_what_a_person_is_called_for_keeps_its_types() -> None:
    """Programs read truths and numbers; a notice has only texts, as JSON spells them."""
    called = unsure().escalation
    assert called is not None
    assert called.facts == {"confidence": 0.41, "achieved": True}
    assert called.facts["achieved"] is True
    mission = unsure()
    assert mission_from_record(*mission_record(mission)) == mission


WAITED = {0.0: "0 h 0 min", 1.0: "1 h 0 min", 26.1: "26 h 6 min", 9_000.0: "9000 h 0 min"}


@pytest.mark.parametrize(("hours", "text"), WAITED.items())
def test_how_long_a_person_is_waited_for(hours: float, text: str) -> None:
    """Hours and minutes, however long; a clock that was set back makes it no less than nothing."""
    now = MOMENT + hours * HOUR
    waits = unsure(replace(KIND, reminders=(0.0,)), max_invocations=9)
    step = tick(replace(waits, deadline_at=now + HOUR), now)
    assert step.notices[0].facts["waiting"] == text


def test_nobody_is_reminded_of_what_is_over() -> None:
    """Resumed before the reminder was due, it is not sent."""
    step = resumed(unsure(), KIND, by="Ada", now=MOMENT + HOUR / 2)
    assert tick(step.mission, MOMENT + 50 * HOUR).notices == ()


def test_who_is_suspended_by_hand_waits_for_a_person_as_well() -> None:
    """Whoever brought it may do that, and cannot let it go on: others are called and reminded."""
    step = suspended(a_mission(), KIND, by="key-1", now=MOMENT, note="Wait.")
    assert [one.kind for one in step.notices] == [NoticeKind.MISSION_SUSPENDED]
    reminded = tick(step.mission, MOMENT + HOUR)
    assert reminded.notices[0].facts["cause"] == "person"
    assert "Wait." not in str(reminded.notices)


@pytest.mark.parametrize(
    ("since", "until", "holds"),
    [
        pytest.param(-60, 60, True, id="under way"),
        pytest.param(-120, 0, False, id="over"),
        pytest.param(30, 90, True, id="of a machine whose clock is half a minute ahead"),
        pytest.param(3600, 7200, False, id="of a clock that was an hour ahead"),
    ],
)
def test_a_lease_is_believed_for_its_time_and_no_longer(
    since: int, until: int, holds: bool
) -> None:
    """One that was taken in the future is of a clock that was wrong: it blocks nobody."""
    lease = Lease(
        owner="w1",
        since=MOMENT + timedelta(seconds=since),
        until=MOMENT + timedelta(seconds=until),
    )
    assert lease.holds(MOMENT) is holds
