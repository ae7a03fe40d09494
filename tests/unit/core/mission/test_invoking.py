"""Whether an invocation may begin, and what it leaves behind (M5, M7)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from sureline.core.mission.invoking import Begun, begun, ended, renewed
from sureline.core.values.mission import (
    Cause,
    EventKind,
    LastEvaluation,
    Lease,
    Mission,
    MissionState,
    Spent,
)
from sureline.core.values.mission_evidence import Cut, Evidence, ToolCall
from sureline.core.values.mission_kind import Budget
from sureline.core.values.notification import NoticeKind
from sureline.errors import Conflict
from sureline.testing import MOMENT
from tests.a_mission import KIND, a_mission

LATER, EARLIER = MOMENT + timedelta(minutes=1), MOMENT - timedelta(minutes=1)
LIVE, STALE = (
    Lease(owner="w1", since=MOMENT, until=LATER),
    Lease(owner="w1", since=MOMENT, until=MOMENT),
)
SUSPENDED = {"state": MissionState.SUSPENDED, "cause": Cause.UNSURE}


def asked(
    mission: Mission, *, overdue: bool = False, switched: bool = False, known: bool = True
) -> Begun:
    return begun(
        mission,
        KIND,
        owner="w2",
        now=MOMENT,
        until=LATER,
        overdue=overdue,
        switched=switched,
        known=known,
    )


LIMIT = {"max_invocations": 3}
LATE = {"deadline_at": MOMENT}
REFUSALS: dict[str, tuple[dict[str, Any], dict[str, bool], str, str]] = {
    "suspended": (SUSPENDED, {}, "suspended", "suspended"),
    "completed": ({"state": MissionState.COMPLETED}, {}, "completed", "completed"),
    "failed": ({"state": MissionState.FAILED}, {}, "failed", "failed"),
    "running": ({"running": LIVE}, {}, "busy", "active"),
    "owed": ({"owed": True}, {}, "evaluation_owed", "active"),
    "owed at the ceiling": ({"owed": True, **LIMIT}, {}, "evaluation_owed", "active"),
    "switch": ({}, {"switched": True}, "switch", "active"),
    "unknown kind": ({}, {"known": False}, "unknown_kind", "suspended"),
    "unknown kind, and owed": ({"owed": True}, {"known": False}, "unknown_kind", "suspended"),
    "unknown kind, and running": ({"running": LIVE}, {"known": False}, "busy", "active"),
    "unknown kind, and suspended": (SUSPENDED, {"known": False}, "suspended", "suspended"),
    "unknown kind, and late": (LATE, {"known": False}, "failed", "failed"),
    "ceiling": (LIMIT, {}, "failed", "failed"),
    "ceiling under a switch": (LIMIT, {"switched": True}, "failed", "failed"),
    "late": (LATE, {}, "failed", "failed"),
    "late by the other clock": ({}, {"overdue": True}, "failed", "failed"),
    "late and owed": ({"owed": True, **LATE}, {}, "failed", "failed"),
    "late and suspended": ({**SUSPENDED, **LATE}, {}, "failed", "failed"),
    "late while being evaluated": ({"evaluating": LIVE, **LATE}, {}, "evaluation_owed", "active"),
    "late after a lost evaluation": ({"evaluating": STALE, **LATE}, {}, "failed", "failed"),
}


@pytest.mark.parametrize(("changes", "around", "code", "state"), REFUSALS.values(), ids=REFUSALS)
def test_when_none_begins(
    changes: dict[str, Any], around: dict[str, bool], code: str, state: str
) -> None:
    """Each refusal has its code and a sentence; a limit that is met fails the mission here."""
    found = asked(a_mission(**changes), **around)
    assert found.refusal is not None
    assert (found.refusal.code, found.step.mission.state.value) == (code, state)
    assert found.refusal.sentence
    assert found.step.mission.invocations == 3
    assert EventKind.INVOCATION_BEGUN not in {one.kind for one in found.step.events}


WAITS: dict[str, tuple[dict[str, Any], bool]] = {
    "running": ({"running": LIVE}, True),
    "being evaluated": ({"owed": True, "evaluating": LIVE}, True),
    "late while being evaluated": ({"evaluating": LIVE, **LATE}, True),
    "owed, and nobody is at it": ({"owed": True}, False),
    "owed, and whoever was at it is gone": ({"owed": True, "evaluating": STALE}, False),
    "suspended": (SUSPENDED, False),
}


@pytest.mark.parametrize(("changes", "waits"), WAITS.values(), ids=WAITS)
def test_a_refusal_says_how_long_somebody_is_at_work(changes: dict[str, Any], waits: bool) -> None:
    """It has the end of the lease, so that whoever asked knows when to ask again."""
    found = asked(a_mission(**changes))
    assert found.refusal is not None
    assert found.refusal.until == (LATER if waits else None)


def test_a_limit_is_told_once_with_its_figures() -> None:
    """Failing at the ceiling is one event and one notice, however often it is asked for."""
    found = asked(a_mission(**LIMIT))
    (event,), (notice,) = found.step.events, found.step.notices
    assert event.facts == {"invocations": 3, "limit": 3}
    assert (notice.kind, notice.facts["cause"]) == (NoticeKind.MISSION_FAILED, "ceiling")
    assert (notice.facts["invocations"], notice.decision_id) == ("3", "")
    again = asked(found.step.mission)
    assert (again.step.events, again.step.notices) == ((), ())


def test_the_first_invocation_starts_the_mission() -> None:
    """Created becomes active with it."""
    created = a_mission(state=MissionState.CREATED, cause=Cause.CREATED, invocations=0)
    step = asked(created).step
    assert [one.kind for one in step.events] == [EventKind.STARTED, EventKind.INVOCATION_BEGUN]
    assert (step.mission.state, step.mission.invocations) == (MissionState.ACTIVE, 1)
    assert step.mission.running == Lease(owner="w2", since=MOMENT, until=LATER)


def test_one_that_was_not_heard_of_again_is_lost_and_the_next_begins() -> None:
    """Its lease ran out: it is in the timeline, counts as one, and what it took is not known."""
    step = asked(a_mission(running=STALE)).step
    lost, begins = step.events
    assert (lost.kind, lost.invocation) == (EventKind.INVOCATION_LOST, 3)
    assert (begins.kind, begins.invocation) == (EventKind.INVOCATION_BEGUN, 4)
    assert step.mission.spent == Spent(unknown=1)


@pytest.mark.parametrize(
    "changes", [LIMIT, {"invocations": 5}], ids=["at the ceiling", "every fifth"]
)
def test_where_the_lost_one_was_to_be_evaluated_that_comes_first(changes: dict[str, Any]) -> None:
    """The loss is written down with the refusal."""
    found = asked(a_mission(running=STALE, **changes))
    assert found.refusal is not None
    assert found.refusal.code == "evaluation_owed"
    assert [one.kind for one in found.step.events] == [EventKind.INVOCATION_LOST]
    assert (found.step.mission.owed, found.step.mission.running) == (True, None)


def test_a_lease_is_made_longer_and_never_shorter() -> None:
    """Renewing twice, in whatever order it arrives, leaves the later end; nothing is told."""
    mission = a_mission(running=LIVE)
    step = renewed(mission, owner="w1", invocation=3, now=MOMENT, until=EARLIER)
    assert step.mission.running == LIVE
    longer = LATER + timedelta(minutes=1)
    step = renewed(mission, owner="w1", invocation=3, now=MOMENT, until=longer)
    assert step.mission.running == Lease(owner="w1", since=MOMENT, until=longer)
    assert (step.events, step.notices) == ((), ())


OTHERS: dict[str, tuple[dict[str, Any], str, int]] = {
    "another owner": ({"running": LIVE}, "w2", 3),
    "an earlier invocation": ({"running": LIVE}, "w1", 2),
    "one that has ended": ({}, "w1", 3),
}


@pytest.mark.parametrize(("changes", "owner", "number"), OTHERS.values(), ids=OTHERS)
def test_only_the_one_that_runs_goes_on_and_ends(
    changes: dict[str, Any], owner: str, number: int
) -> None:
    """A worker that was believed dead, or asks twice, changes nothing any more."""
    mission = a_mission(**changes)
    with pytest.raises(Conflict, match="is not running for this caller"):
        renewed(mission, owner=owner, invocation=number, now=MOMENT, until=LATER)
    with pytest.raises(Conflict, match="is not running for this caller"):
        ended(mission, KIND, owner=owner, invocation=number, evidence=Evidence(), now=MOMENT)


def end(evidence: Evidence | None = None, **changes: Any) -> Any:
    mission = a_mission(running=LIVE, **changes)
    said = evidence or Evidence(answer="Looked.")
    return ended(
        mission, KIND, owner="w1", invocation=mission.invocations, evidence=said, now=MOMENT
    )


OWED: dict[str, tuple[dict[str, Any], bool]] = {
    "the third of five": ({}, False),
    "the fifth": ({"invocations": 5}, True),
    "the fifth since": ({"invocations": 9, "evaluated": 4}, True),
    "evaluated at the third": ({"invocations": 5, "evaluated": 3}, False),
    "the last": ({"max_invocations": 3}, True),
    "owed before": ({"owed": True}, True),
    "while suspended": ({"invocations": 5, **SUSPENDED}, True),
}


@pytest.mark.parametrize(("changes", "owed"), OWED.values(), ids=OWED)
def test_when_an_evaluation_is_owed(changes: dict[str, Any], owed: bool) -> None:
    """After every fifth invocation without one, and after the last that is allowed (M29)."""
    assert end(**changes).mission.owed is owed


def test_an_end_is_in_the_timeline_with_what_it_took() -> None:
    """Figures only; the answer is with the mission's words."""
    calls = (ToolCall(name="close", arguments={"id": "secret"}),)
    step = end(Evidence(answer="secret", calls=calls, tokens=7, cost=0.5))
    (event,) = step.events
    assert event.facts == {"calls": 1, "tokens": 7, "cost": 0.5}
    assert step.mission.spent == Spent(tokens=7, cost=0.5, calls=1)
    assert step.mission.evidence.answer == "secret"
    assert step.mission.running is None


@pytest.mark.parametrize(("evaluated", "turns"), [(1, 5), (2, 0)], ids=["not judged", "judged"])
def test_what_was_cut_counts_until_it_is_judged(evaluated: int, turns: int) -> None:
    """What a judge was not shown before its verdict says nothing of the next one."""
    before = Evidence(answer="Begun.", cut=Cut(turns=5))
    mission = a_mission(running=LIVE, evidence=before, evaluated=evaluated)
    step = ended(
        mission, KIND, owner="w1", invocation=3, evidence=Evidence(answer="On."), now=MOMENT
    )
    assert step.mission.evidence.cut == Cut(turns=turns)


def test_a_limit_that_is_met_suspends_with_its_figures() -> None:
    """A person is called once, with what was used and what was allowed; no verdict is named."""
    last = LastEvaluation(
        decision_id="m-1.1.2", invocation=2, at=MOMENT, achieved=False, confidence=0.9
    )
    step = end(Evidence(tokens=90), budget=Budget(tokens=100), spent=Spent(tokens=20), last=last)
    assert [one.kind for one in step.events] == [EventKind.INVOCATION_ENDED, EventKind.SUSPENDED]
    assert step.events[-1].facts == {"used": 110, "limit": 100}
    (notice,) = step.notices
    assert (notice.facts["cause"], notice.facts["used"]) == ("budget_tokens", "110")
    assert notice.decision_id == ""
    assert step.mission.escalation is not None
    assert step.mission.escalation.facts == {"used": 110, "limit": 100}


@pytest.mark.parametrize("state", [MissionState.SUSPENDED, MissionState.FAILED])
def test_what_stopped_meanwhile_stays_so(state: MissionState) -> None:
    """The evidence is taken in all the same; nobody is called a second time."""
    step = end(Evidence(answer="Late.", tokens=999), state=state, budget=Budget(tokens=1))
    assert (step.mission.state, step.notices) == (state, ())
    assert step.mission.evidence.answer == "Late."
    assert step.mission.spent.tokens == 999


def test_renewing_does_not_believe_a_clock_that_was_ahead() -> None:
    """What was promised by a clock ten years ahead is over when the right one says so."""
    ahead = MOMENT + timedelta(days=3650)
    lease = Lease(owner="w1", since=ahead, until=ahead + timedelta(minutes=1))
    mission = a_mission(running=lease)
    step = renewed(mission, owner="w1", invocation=3, now=MOMENT, until=LATER)
    assert step.mission.running == Lease(owner="w1", since=MOMENT, until=LATER)
