"""What no judge was shown: an invocation that was lost, or silent, or whose evidence came late."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from sureline.core.mission.bundle import bundle
from sureline.core.mission.concluding import counts
from sureline.core.mission.invoking import begun, ended
from sureline.core.values.mission import Cause, Lease, MissionState
from sureline.core.values.mission_evidence import Cut, Evidence, ToolCall
from sureline.testing import MOMENT
from tests.a_mission import KIND, a_mission

LATER = MOMENT + timedelta(minutes=1)
LIVE, STALE = (
    Lease(owner="w1", since=MOMENT, until=LATER),
    Lease(owner="w1", since=MOMENT, until=MOMENT),
)
SUSPENDED = {"state": MissionState.SUSPENDED, "cause": Cause.UNSURE}
SAID = Evidence(answer="Begun.")
UNSHOWN: dict[str, tuple[Evidence, int]] = {
    "nothing": (Evidence(), 1),
    "nothing but what it took": (Evidence(tokens=9, trigger="cron"), 1),
    "an empty answer": (Evidence(answer=""), 0),
    "a state": (Evidence(state={"open": 6}), 0),
    "a call": (Evidence(calls=(ToolCall(name="read"),)), 0),
}


@pytest.mark.parametrize(("evidence", "turns"), UNSHOWN.values(), ids=UNSHOWN)
def test_an_invocation_that_hands_in_nothing_counts_as_not_shown(
    evidence: Evidence, turns: int
) -> None:
    """A judge is told of it, and is the less complete for it."""
    mission = a_mission(running=LIVE, evidence=SAID, evaluated=1)
    step = ended(mission, KIND, owner="w1", invocation=3, evidence=evidence, now=MOMENT)
    assert step.mission.evidence.cut == Cut(turns=turns)
    assert (bundle(step.mission, KIND).completeness < 1.0) is (turns > 0)


def test_a_lost_invocation_counts_as_not_shown() -> None:
    """Also where it is judged before anybody asks for the next one; no loss counts twice."""
    mission = a_mission(running=STALE, evidence=SAID, evaluated=1)
    assert bundle(mission, KIND).turns.total == 1
    step = begun(
        mission, KIND, owner="w2", now=MOMENT, until=LATER, overdue=False, switched=False
    ).step
    assert step.mission.evidence.cut == Cut(turns=1)
    next_one = replace(step.mission, evaluated=3)
    step = ended(next_one, KIND, owner="w2", invocation=4, evidence=SAID, now=MOMENT)
    assert bundle(step.mission, KIND).completeness == 1.0


LATE_ENDS: dict[str, tuple[dict[str, Any], bool]] = {
    "judged without it": ({"running": STALE, "evaluated": 3}, True),
    "judged, and heard of again": ({"evaluated": 3}, True),
    "being judged without it": ({"running": STALE, "evaluating": LIVE}, True),
    "judged, and suspended for it": ({"running": STALE, "evaluated": 3, **SUSPENDED}, True),
    "judged, and completed": (
        {"running": STALE, "evaluated": 3, "state": MissionState.COMPLETED},
        False,
    ),
    "the one before is being judged": ({"evaluating": LIVE, "evaluated": 1}, False),
    "late, and nobody looked": ({"running": STALE, "evaluated": 2}, False),
}


@pytest.mark.parametrize(("changes", "again"), LATE_ENDS.values(), ids=LATE_ENDS)
def test_evidence_that_comes_after_its_verdict_is_judged_anew(
    changes: dict[str, Any], again: bool
) -> None:
    """An evaluation is owed, under an id of its own; one on its way does not count."""
    mission = a_mission(**{"running": LIVE, **changes})
    step = ended(mission, KIND, owner="w1", invocation=3, evidence=SAID, now=MOMENT)
    after = step.mission
    assert after.owed is again
    assert (after.evaluated < 3) is (again or mission.evaluated < 3)
    assert (after.revision != mission.revision) is again
    assert step.events[0].facts.get("late", False) is again
    if again:
        assert after.evaluating is None
        assert not counts(after, mission)
