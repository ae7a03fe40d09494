"""What people do to a mission: who is refused, what is raised, what counts no more (M7, M11)."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from sureline.core.mission.acting import (
    Act,
    Raise,
    changed,
    completed_by,
    extended,
    failed_by,
    resumed,
    suspended,
)
from sureline.core.mission.step import Step
from sureline.core.mission.transitions import WAYS, moved
from sureline.core.values.mission import (
    Cause,
    Escalation,
    EventKind,
    LastEvaluation,
    Lease,
    Mission,
    MissionState,
    Spent,
    Tally,
)
from sureline.core.values.mission_evidence import Evidence
from sureline.core.values.mission_kind import Budget
from sureline.core.values.notification import NoticeKind
from sureline.errors import Conflict, InvalidInput
from sureline.testing import MOMENT
from tests.a_mission import KIND, a_mission

HOUR = timedelta(hours=1)
ESCALATION = Escalation(cause=Cause.UNSURE, since=MOMENT)
UNSURE = {"state": MissionState.SUSPENDED, "cause": Cause.UNSURE, "escalation": ESCALATION}
FAILED = {"state": MissionState.FAILED, "ended_at": MOMENT}


def act(doing: Act, mission: Mission, note: str = "") -> Step:
    return doing(mission, KIND, by="Ada", now=MOMENT, note=note)


def extend(mission: Mission, **more: Any) -> Step:
    return extended(mission, KIND, by="Ada", now=MOMENT, more=Raise(**more))


def change(mission: Mission, **words: Any) -> Step:
    return changed(mission, by="Ada", now=MOMENT, **words)


@pytest.mark.parametrize(
    ("one", "other"), list(itertools.product(MissionState, MissionState)), ids=lambda one: one.value
)
def test_there_are_no_other_ways(one: MissionState, other: MissionState) -> None:
    """A state is reached on a known way, with its event as the last one, or not at all."""
    mission = a_mission(state=one, cause=Cause.DEADLINE)
    if (one, other) not in WAYS:
        same = one is other and one is not MissionState.ACTIVE
        expected = "already" if same else f"is {one.value} cannot become {other.value}"
        with pytest.raises(Conflict, match=expected):
            moved(mission, KIND, other, Cause.PERSON, now=MOMENT)
        return
    step = moved(mission, KIND, other, Cause.PERSON, now=MOMENT)
    (event,) = step.events
    assert (event.kind, event.state) == (WAYS[one, other], other)
    assert step.mission.version == mission.version + 1


@pytest.mark.parametrize("cause", sorted(set(Cause) - {Cause.DEADLINE, Cause.CEILING}))
def test_what_failed_for_another_reason_stays_over(cause: Cause) -> None:
    """Only a limit in time or turns can be raised afterwards."""
    mission = a_mission(**FAILED, cause=cause)
    with pytest.raises(Conflict):
        moved(mission, KIND, MissionState.ACTIVE, Cause.STARTED, now=MOMENT)
    with pytest.raises(Conflict, match="is over"):
        extend(mission, hours=9, invocations=9)


ACTS: dict[str, tuple[Act, MissionState, Cause]] = {
    "suspend": (suspended, MissionState.SUSPENDED, Cause.PERSON),
    "fail": (failed_by, MissionState.FAILED, Cause.PERSON),
    "complete": (completed_by, MissionState.COMPLETED, Cause.PERSON),
}


@pytest.mark.parametrize(("doing", "state", "cause"), ACTS.values(), ids=ACTS)
@pytest.mark.parametrize("start", [MissionState.CREATED, MissionState.ACTIVE])
def test_a_person_stops_it(
    doing: Act, state: MissionState, cause: Cause, start: MissionState
) -> None:
    """Who did it is in the timeline, with their note; what is told has neither."""
    step = act(doing, a_mission(state=start), "No more of this.")
    (event,), (notice,) = step.events, step.notices
    assert (step.mission.state, step.mission.cause) == (state, cause)
    assert (event.by, event.facts) == ("Ada", {"note": "No more of this."})
    assert notice.facts == {"mission": "m-1", "cause": "person"}
    with pytest.raises(Conflict):
        act(doing, step.mission)


def test_who_resumes_starts_anew() -> None:
    """What health remembers and failures are forgotten, and that it is over is told."""
    tired = a_mission(**UNSURE, tally=Tally(calls=("a",), errors=(True,), empty=2), faults=3)
    step = act(resumed, tired)
    after = step.mission
    assert (after.state, after.cause) == (MissionState.ACTIVE, Cause.STARTED)
    assert (after.tally, after.faults, after.escalation) == (Tally(), 0, None)
    assert [one.kind for one in step.notices] == [NoticeKind.MISSION_RECOVERED]


@pytest.mark.parametrize("state", sorted(set(MissionState) - {MissionState.SUSPENDED}))
def test_only_what_is_suspended_is_resumed(state: MissionState) -> None:
    """Anything else says what it is."""
    with pytest.raises(Conflict, match=f"this one is {state.value}"):
        act(resumed, a_mission(state=state))


LIMITS: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "time": ({"deadline_at": MOMENT}, "extend it by hours first", {"hours": 1}),
    "turns": ({"max_invocations": 3}, "extend it by invocations first", {"invocations": 1}),
    "tokens": (
        {"budget": Budget(tokens=10), "spent": Spent(tokens=12)},
        "has used 12 tokens of 10: extend it by tokens first",
        {"tokens": 5},
    ),
    "cost": (
        {"budget": Budget(cost=1.0), "spent": Spent(cost=1.0)},
        "has used 1.0 cost of 1.0: extend it by cost first",
        {"cost": 0.5},
    ),
    "calls": (
        {"budget": Budget(calls=4), "spent": Spent(calls=4)},
        "has used 4 calls of 4: extend it by calls first",
        {"calls": 1},
    ),
}


@pytest.mark.parametrize(("changes", "says", "more"), LIMITS.values(), ids=LIMITS)
def test_a_limit_is_raised_before_it_goes_on(
    changes: dict[str, Any], says: str, more: dict[str, Any]
) -> None:
    """Resuming is refused while a limit would stop it at once; which one, and what to do."""
    stopped = a_mission(**UNSURE, **changes)
    with pytest.raises(Conflict, match=says):
        act(resumed, stopped)
    raised = extend(stopped, **more)
    assert raised.mission.state is MissionState.SUSPENDED
    assert raised.notices == ()
    assert act(resumed, raised.mission).mission.state is MissionState.ACTIVE


def test_raising_by_too_little_is_not_enough() -> None:
    """What was used is still more than what is allowed."""
    stopped = a_mission(**UNSURE, budget=Budget(tokens=10), spent=Spent(tokens=20))
    with pytest.raises(Conflict, match="20 tokens of 15"):
        act(resumed, extend(stopped, tokens=5).mission)


def test_the_last_evaluation_may_still_be_made() -> None:
    """At the ceiling, with one owed that failed, resuming has the judge asked again."""
    stopped = a_mission(**UNSURE, max_invocations=3, owed=True)
    assert act(resumed, stopped).mission.owed


REOPENS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "deadline": ({"cause": Cause.DEADLINE, "deadline_at": MOMENT - HOUR}, {"hours": 1}),
    "ceiling": ({"cause": Cause.CEILING, "max_invocations": 3}, {"invocations": 1}),
}


@pytest.mark.parametrize(("changes", "more"), REOPENS.values(), ids=REOPENS)
def test_what_failed_by_a_limit_is_reopened(changes: dict[str, Any], more: dict[str, Any]) -> None:
    """It is active again, at once; another limit that is met as well must be raised too."""
    failed = a_mission(**FAILED, **changes)
    step = extend(failed, **more)
    after = step.mission
    assert (after.state, after.cause, after.ended_at) == (
        MissionState.ACTIVE,
        Cause.STARTED,
        None,
    )
    assert [one.kind for one in step.events] == [EventKind.EXTENDED]
    with pytest.raises(Conflict, match="extend it by tokens first"):
        extend(replace(failed, budget=Budget(tokens=1), spent=Spent(tokens=1)), **more)
    with pytest.raises(Conflict):
        extend(replace(failed, budget=Budget(tokens=1)), tokens=1)


def test_time_is_added_to_what_is_left_or_to_now() -> None:
    """An hour more is an hour that it can use, whenever its time was over."""
    assert extend(a_mission(), hours=1).mission.deadline_at == MOMENT + 25 * HOUR
    late = a_mission(deadline_at=MOMENT - 9 * HOUR)
    assert extend(late, hours=1.5).mission.deadline_at == MOMENT + 1.5 * HOUR


FIGURES = (True, False, 0, -1, math.nan, math.inf, -math.inf, "5", 10**400, [1])
FIELDS = ("hours", "invocations", "tokens", "cost", "calls")


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("figure", FIGURES, ids=lambda one: str(one)[:8])
def test_a_figure_that_raises_nothing_is_refused(field: str, figure: object) -> None:
    """The message names the field and what was expected there."""
    mission = a_mission(budget=Budget(tokens=1, cost=1.0, calls=1))
    with pytest.raises(InvalidInput, match=f"^{field}: expected a .*number above 0") as refused:
        extend(mission, **{field: figure})
    assert refused.value.field == field


@pytest.mark.parametrize("field", ["invocations", "tokens", "calls"])
def test_what_is_counted_is_raised_by_whole_numbers(field: str) -> None:
    """Half a call is none."""
    with pytest.raises(InvalidInput, match="a whole number"):
        extend(a_mission(budget=Budget(tokens=1, calls=1)), **{field: 1.5})


ALREADY = {
    suspended: (MissionState.SUSPENDED, "the mission is suspended already"),
    completed_by: (MissionState.COMPLETED, "the mission is completed already"),
    failed_by: (MissionState.FAILED, "the mission has failed already"),
}


@pytest.mark.parametrize(("doing", "stands"), ALREADY.items())
def test_what_is_so_already(doing: Any, stands: tuple[MissionState, str]) -> None:
    """Doing it again says that it has been done."""
    state, sentence = stands
    with pytest.raises(Conflict, match=f"^{sentence}$"):
        act(doing, a_mission(state=state, cause=Cause.PERSON))


def test_raising_nothing_or_what_is_not_limited_is_refused() -> None:
    """Nothing that could be raised is said, or there is no such limit."""
    with pytest.raises(InvalidInput, match="hours, invocations, tokens, cost or calls"):
        extend(a_mission())
    with pytest.raises(InvalidInput, match="no limit of tokens"):
        extend(a_mission(), tokens=5)
    with pytest.raises(InvalidInput, match="before the year 10000"):
        extend(a_mission(deadline_at=MOMENT.replace(year=9999)), hours=80_000)


LAST = LastEvaluation(decision_id="m-1.1.3", invocation=3, at=MOMENT, achieved=True, confidence=0.9)


def test_another_objective_makes_what_was_judged_count_no_more() -> None:
    """The revision goes up, the verdict goes, and what was done is judged anew (M11)."""
    before = a_mission(
        evidence=Evidence(answer="Done."),
        evaluated=3,
        faults=2,
        last=LAST,
        evaluating=Lease(owner="w1", since=MOMENT, until=MOMENT + HOUR),
    )
    step = change(before, objective="Close all seven.")
    after = step.mission
    assert (after.objective, after.criteria) == ("Close all seven.", before.criteria)
    assert (after.revision, after.owed, after.evaluated, after.faults) == (2, True, 0, 0)
    assert (after.last, after.evaluating) == (None, None)
    (event,) = step.events
    assert (event.kind, event.by, event.facts) == (EventKind.CHANGED, "Ada", {"revision": 2})


def test_the_same_words_change_nothing() -> None:
    """Neither revision nor verdict."""
    before = a_mission(last=LAST)
    same = change(before, objective=before.objective, criteria=before.criteria)
    assert same == Step(mission=before)


def test_nothing_is_owed_where_nothing_was_done() -> None:
    """A mission that has not begun has nothing to be judged."""
    new = a_mission(state=MissionState.CREATED, cause=Cause.CREATED, invocations=0)
    assert change(new, criteria=("All of them.",)).mission.owed is False


def test_a_suspended_mission_stays_so_with_other_words() -> None:
    """Its escalation is still open; resumed, it is evaluated first."""
    step = change(a_mission(**UNSURE), objective="Close all seven.")
    assert (step.mission.state, step.mission.escalation) == (MissionState.SUSPENDED, ESCALATION)
    assert act(resumed, step.mission).mission.owed


def test_what_is_over_or_empty_is_not_changed() -> None:
    """A mission that is over has no other objective, and none has no objective."""
    with pytest.raises(Conflict, match="is not changed any more"):
        change(a_mission(**FAILED), objective="Another.")
    with pytest.raises(InvalidInput) as refused:
        change(a_mission(), objective=" \n")
    assert refused.value.field == "objective"
