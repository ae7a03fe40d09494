"""A budget that is met: an evaluation that is owed comes first, and nothing runs after it (M10)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from sureline.core.mission.acting import resumed
from sureline.core.mission.concluding import conclude, concluded
from sureline.core.mission.evaluation import Evaluation, EvaluationSource
from sureline.core.mission.invoking import begun, ended
from sureline.core.mission.step import Step
from sureline.core.values.mission import Cause, EventKind, Lease, Mission, MissionState, Spent
from sureline.core.values.mission_evidence import Evidence, ToolCall
from sureline.core.values.mission_kind import Budget
from sureline.testing import MOMENT
from tests.a_mission import KIND, a_mission

LATER = MOMENT + timedelta(minutes=1)
MET = {"budget": Budget(tokens=100), "spent": Spent(tokens=100)}
LOOPED = Evidence(calls=(ToolCall(name="read"),) * 5)
ANSWERED = Evidence(answer="On.")


def end(evidence: Evidence = ANSWERED, **changes: Any) -> Step:
    mission = a_mission(running=Lease(owner="w1", since=MOMENT, until=LATER), **{**MET, **changes})
    number = mission.invocations
    return ended(mission, KIND, owner="w1", invocation=number, evidence=evidence, now=MOMENT)


ENDS: dict[str, tuple[dict[str, Any], Evidence, str]] = {
    "nothing is owed": ({}, ANSWERED, "budget_tokens"),
    "an evaluation is owed": ({"invocations": 5}, ANSWERED, "started"),
    "owed, and unwell": ({"invocations": 5}, LOOPED, "repeated_call"),
    "unwell, and nothing is owed": ({}, LOOPED, "budget_tokens"),
}


@pytest.mark.parametrize(("changes", "evidence", "cause"), ENDS.values(), ids=ENDS)
def test_an_invocation_that_meets_it(
    changes: dict[str, Any], evidence: Evidence, cause: str
) -> None:
    """It suspends at once, unless an evaluation is owed; poor health does not wait for that."""
    mission = end(evidence, **changes).mission
    assert mission.cause.value == cause
    assert (mission.state is MissionState.ACTIVE) is (cause == "started")
    assert mission.owed is (mission.invocations == 5)


VERDICTS: dict[str, tuple[bool | None, str, str]] = {
    "achieved": (True, "completed", "achieved"),
    "not achieved": (False, "suspended", "budget_tokens"),
    "failed, and tried again": (None, "active", "started"),
}


@pytest.mark.parametrize(("achieved", "state", "cause"), VERDICTS.values(), ids=VERDICTS)
def test_what_follows_from_the_evaluation(achieved: bool | None, state: str, cause: str) -> None:
    """Work that is done completes; what would go on is suspended, with the budget's figures."""
    mission = end(invocations=5).mission
    found = Evaluation(
        source=EvaluationSource.CHECK,
        achieved=achieved,
        confidence=None if achieved is None else 1.0,
        fault="raised" if achieved is None else None,
    )
    step = conclusion_of(mission, found)
    assert (step.mission.state.value, step.mission.cause.value) == (state, cause)
    if achieved is False:
        kinds = [one.kind for one in step.events]
        assert kinds == [EventKind.EVALUATED, EventKind.SUSPENDED]
        assert step.events[-1].facts == {"used": 100, "limit": 100}
        assert len(step.notices) == 1


def conclusion_of(mission: Mission, found: Evaluation) -> Step:
    conclusion = conclude(
        mission, KIND, found, sure=True, switched=False, now=MOMENT, overdue=False
    )
    return concluded(
        mission, KIND, found, conclusion, seen=mission, decision_id="evl_1", now=MOMENT
    )


def test_no_invocation_begins_with_it_used_up() -> None:
    """However it came to that, a person is called, and told why."""
    found = begun(
        a_mission(**MET),
        KIND,
        owner="w1",
        now=MOMENT,
        until=LATER,
        overdue=False,
        switched=False,
    )
    assert found.refusal is not None
    assert (found.refusal.code, found.step.mission.cause) == ("suspended", Cause.BUDGET_TOKENS)
    assert [one.kind for one in found.step.events] == [EventKind.SUSPENDED]
    assert found.step.mission.invocations == 3


def test_what_is_only_to_be_evaluated_needs_no_more_of_it() -> None:
    """A judge that was away is asked again although the budget is used up."""
    waiting = {"state": MissionState.SUSPENDED, "cause": Cause.JUDGE_UNAVAILABLE}
    mission = a_mission(owed=True, **waiting, **MET)
    assert resumed(mission, KIND, by="Ada", now=MOMENT).mission.state is MissionState.ACTIVE
