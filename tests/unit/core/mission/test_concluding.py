"""What follows from an evaluation: every combination, against the rules as they are documented."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple

import pytest

from sureline.core.mission.concluding import Verdict, conclude, concluded
from sureline.core.mission.evaluation import Evaluation, EvaluationSource
from sureline.core.mission.step import Step
from sureline.core.values.mission import Cause, EventKind, Lease, Mission, MissionState
from sureline.core.values.mission_evidence import Evidence
from sureline.core.values.notification import NoticeKind
from sureline.testing import MOMENT
from tests.a_mission import KIND, a_mission

WORDS = Evidence(answer="I have looked into it.")
THRESHOLD = 0.7
BANDS = {"none": 0.0, "below": 0.69, "at": 0.7, "above": 0.71, "full": 1.0}
DIMENSIONS: dict[str, tuple[Any, ...]] = {
    "found": ("achieved", "not achieved", "failed"),
    "source": ("check", "judge"),
    "band": tuple(BANDS),
    "auto": (True, False),
    "shown": ("little", "enough"),
    "switched": (True, False),
    "time": ("left", "passed", "passed unseen"),
    "turns": ("left", "used up"),
    "faults": (0, 1, 2),
}
"""`passed unseen`: the clock on the wall was set back, another one knows better."""


class Rule(NamedTuple):
    """Where all of `where` holds, the mission is then `state` for `cause`; or it stays, owed."""

    why: str
    where: dict[str, Any]
    state: str
    cause: str
    owed: bool = False


RULES = (
    Rule(
        "a failure is no judgement: asked again",
        {"found": "failed", "faults": 0},
        "active",
        "started",
        owed=True,
    ),
    Rule("and once more", {"found": "failed", "faults": 1}, "active", "started", owed=True),
    Rule(
        "three failures: nobody knows",
        {"found": "failed", "source": "judge"},
        "suspended",
        "judge_unavailable",
        owed=True,
    ),
    Rule(
        "the judge is not asked instead",
        {"found": "failed", "source": "check"},
        "suspended",
        "check_failed",
        owed=True,
    ),
    Rule("unsure, whatever it says", {"source": "judge", "band": "none"}, "suspended", "unsure"),
    Rule(
        "unsure, if only by a little", {"source": "judge", "band": "below"}, "suspended", "unsure"
    ),
    Rule(
        "nothing completes by itself under a switch",
        {"found": "achieved", "switched": True},
        "suspended",
        "switch",
    ),
    Rule(
        "too much was never looked at",
        {"found": "achieved", "source": "judge", "shown": "little"},
        "suspended",
        "little_evidence",
    ),
    Rule(
        "a person wants to confirm it",
        {"found": "achieved", "auto": False},
        "suspended",
        "to_confirm",
    ),
    Rule("achieved, also if late or last", {"found": "achieved"}, "completed", "achieved"),
    Rule("that was the last", {"turns": "used up"}, "failed", "ceiling"),
    Rule("late by the wall", {"time": "passed"}, "failed", "deadline"),
    Rule("late by the other clock", {"time": "passed unseen"}, "failed", "deadline"),
    Rule("not achieved yet", {}, "active", "started"),
)
"""The first that fits counts; docs/explanation/missions.md has the same for people."""


def combinations(**fixed: Any) -> Iterator[dict[str, Any]]:
    """Yield every combination of the dimensions that are not fixed."""
    spaces = [(fixed[name],) if name in fixed else DIMENSIONS[name] for name in DIMENSIONS]
    for values in itertools.product(*spaces):
        yield dict(zip(DIMENSIONS, values, strict=True))


def stood(case: dict[str, Any]) -> Mission:
    used = case["turns"] == "used up"
    return a_mission(
        evidence=WORDS,
        owed=True,
        faults=case["faults"],
        max_invocations=3 if used else 100,
        deadline_at=MOMENT + timedelta(seconds=0 if case["time"] == "passed" else 1),
        evaluating=Lease(owner="w1", since=MOMENT, until=MOMENT + timedelta(minutes=1)),
    )


def evaluation(case: dict[str, Any]) -> Evaluation:
    source = EvaluationSource(case["source"])
    shown = 0.49 if case["shown"] == "little" else 0.5
    if case["found"] == "failed":
        return Evaluation(source=source, fault="unreadable", completeness=shown)
    achieved, confidence = case["found"] == "achieved", BANDS[case["band"]]
    return Evaluation(source=source, achieved=achieved, confidence=confidence, completeness=shown)


def step_of(case: dict[str, Any]) -> Step:
    mission, found = stood(case), evaluation(case)
    kind = replace(KIND, auto_complete=case["auto"])
    conclusion = conclude(
        mission,
        kind,
        found,
        sure=found.confidence is not None and found.confidence >= THRESHOLD,
        switched=case["switched"],
        now=MOMENT,
        overdue=case["time"] == "passed unseen",
    )
    return concluded(
        mission, kind, found, conclusion, seen=mission, decision_id="evl_1", now=MOMENT
    )


def rule_of(case: dict[str, Any]) -> Rule:
    return next(
        one for one in RULES if all(case[name] == value for name, value in one.where.items())
    )


@pytest.mark.parametrize("source", DIMENSIONS["source"])
@pytest.mark.parametrize("found", DIMENSIONS["found"])
def test_every_combination_has_its_documented_end(found: str, source: str) -> None:
    """Of all 4,320 combinations each gives the state and cause of the first rule that fits."""
    for case in combinations(found=found, source=source):
        rule, after = rule_of(case), step_of(case).mission
        ended = (after.state.value, after.cause.value, after.owed)
        assert ended == (rule.state, rule.cause, rule.owed), (rule.why, case)


def test_every_rule_is_met() -> None:
    """No rule is shadowed by an earlier one."""
    assert {rule_of(case).why for case in combinations()} == {one.why for one in RULES}


TOLD = {
    "active": [],
    "suspended": [NoticeKind.MISSION_SUSPENDED],
    "completed": [NoticeKind.MISSION_COMPLETED],
    "failed": [NoticeKind.MISSION_FAILED],
}


@pytest.mark.parametrize("found", DIMENSIONS["found"])
def test_each_change_is_told_once_and_written_down(found: str) -> None:
    """The evaluation is an event, a change of state another with one notice, and no lease stays."""
    for case in combinations(found=found, band="above", shown="enough"):
        step = step_of(case)
        after = step.mission
        first = EventKind.EVALUATION_FAILED if found == "failed" else EventKind.EVALUATED
        kinds = [one.kind for one in step.events]
        changed = [] if after.state is MissionState.ACTIVE else [EventKind(after.state.value)]
        assert kinds == [first, *changed]
        assert [one.kind for one in step.notices] == TOLD[after.state.value]
        assert (step.events[-1].state, step.events[-1].cause) == (after.state, after.cause)
        assert (after.escalation is not None) == (after.state is MissionState.SUSPENDED)
        assert after.evaluating is None


SURE = Evaluation(
    source=EvaluationSource.JUDGE,
    achieved=True,
    confidence=0.9,
    reasoning="Each is closed.",
    progress="6 of 6.",
)


def conclusion_of(
    mission: Mission,
    found: Evaluation = SURE,
    seen: Mission | None = None,
    *,
    held: bool = True,
) -> Step:
    conclusion = conclude(
        mission, KIND, found, sure=True, switched=False, now=MOMENT, overdue=False
    )
    return concluded(
        mission,
        KIND,
        found,
        conclusion,
        seen=mission if seen is None else seen,
        decision_id="evl_1",
        now=MOMENT,
        threshold=THRESHOLD,
        held=held,
    )


LATE = {
    "suspended by a person": {"state": MissionState.SUSPENDED, "cause": Cause.PERSON},
    "out of time": {"state": MissionState.FAILED, "cause": Cause.DEADLINE},
    "completed by a person": {"state": MissionState.COMPLETED, "cause": Cause.PERSON},
    "another objective": {"revision": 2},
    "judged by another worker": {"evaluated": 3},
}


@pytest.mark.parametrize("changes", LATE.values(), ids=LATE)
@pytest.mark.parametrize("found", [SURE, Evaluation(source=SURE.source, fault="timeout")])
def test_a_late_verdict_changes_nothing(changes: dict[str, Any], found: Evaluation) -> None:
    """It is in the timeline as one that does not count; what was owed is still owed."""
    before = a_mission(owed=True, faults=1, evidence=WORDS, **changes)
    step = conclusion_of(before, found, a_mission())
    assert step.mission == replace(before, version=before.version + 1, updated_at=MOMENT)
    (event,) = step.events
    assert event.facts["counts"] is False
    assert (event.facts["of_revision"], event.facts["of_invocation"]) == (1, 3)
    assert step.notices == ()


def test_a_late_verdict_leaves_the_evaluation_of_the_new_objective_its_lease() -> None:
    """Somebody may be judging the new words already."""
    lease = Lease(owner="w2", since=MOMENT, until=MOMENT + timedelta(minutes=1))
    mission = a_mission(revision=2, evaluating=lease)
    assert conclusion_of(mission, seen=a_mission()).mission.evaluating == lease
    assert conclusion_of(a_mission(evaluating=lease)).mission.evaluating is None


def test_an_invocation_that_ran_meanwhile_is_not_evaluated_by_it() -> None:
    """A verdict on the third says nothing of the fourth; at the ceiling that one is owed."""
    no = replace(SURE, achieved=False)
    mission = a_mission(invocations=4, owed=True, max_invocations=5)
    after = conclusion_of(mission, no, a_mission()).mission
    assert (after.evaluated, after.owed) == (3, False)
    assert after.last is not None
    assert after.last.invocation == 3
    last = replace(mission, invocations=4, max_invocations=4)
    step = concluded(
        last,
        KIND,
        no,
        conclude(a_mission(), KIND, no, sure=True, switched=False, now=MOMENT, overdue=False),
        seen=a_mission(),
        decision_id="evl_1",
        now=MOMENT,
    )
    assert step.mission.owed


def test_what_still_runs_is_not_owed_yet() -> None:
    """There is nothing to look at before it has ended, which is then asked again."""
    lease = Lease(owner="w1", since=MOMENT, until=MOMENT + timedelta(minutes=1))
    mission = a_mission(invocations=10, running=lease)
    assert conclusion_of(mission, replace(SURE, achieved=False), a_mission()).mission.owed is False


def test_what_is_remembered_and_what_is_told() -> None:
    """Words stay with the mission, figures go into the timeline and into notices."""
    step = conclusion_of(a_mission(submitted_by="key-1"))
    last = step.mission.last
    assert last is not None
    assert (last.reasoning, last.progress) == ("Each is closed.", "6 of 6.")
    assert step.events[0].facts == {
        "source": "judge",
        "achieved": True,
        "confidence": 0.9,
        "completeness": 1.0,
        "decision_id": "evl_1",
        "threshold": 0.7,
    }
    (notice,) = step.notices
    assert (notice.decision_id, notice.slice_key) == ("evl_1", "mission.reconciliation")
    assert notice.submitted_by == "key-1"
    assert notice.facts["confidence"] == "0.9"
    assert "Each is closed." not in str((step.events, step.notices))


def test_a_verdict_ends_a_row_of_failures() -> None:
    """Two failures and a verdict, then two more: nobody is called, for no three were in a row."""
    mission, failed = a_mission(), Evaluation(source=SURE.source, fault="timeout")
    for number, found in enumerate((failed, failed, replace(SURE, achieved=False), failed, failed)):
        mission = conclusion_of(replace(mission, owed=True, invocations=3 + number), found).mission
    assert (mission.state, mission.faults) == (MissionState.ACTIVE, 2)


def test_a_check_is_tried_three_times_where_no_judge_says_how_often() -> None:
    """A kind without a judge has a number of its own."""
    kind = replace(KIND, judge=None)
    failed = Evaluation(source=EvaluationSource.CHECK, fault="raised")
    verdicts = [
        conclude(
            a_mission(faults=faults),
            kind,
            failed,
            sure=False,
            switched=False,
            now=MOMENT,
            overdue=False,
        ).verdict
        for faults in range(3)
    ]
    assert verdicts == [Verdict.RETRY, Verdict.RETRY, Verdict.ASK]


def test_where_nobody_can_be_asked_nothing_is_tried_again() -> None:
    """A check that leaves it to a judge there is not calls a person at once, about the check."""
    undecided = Evaluation(source=EvaluationSource.CHECK, fault="check_undecided")
    mission = conclusion_of(a_mission(owed=True), undecided).mission
    assert (mission.state, mission.cause) == (MissionState.SUSPENDED, Cause.CHECK_FAILED)


def test_what_a_check_raised_is_in_the_timeline_and_the_notice() -> None:
    """The name of the error, or the exit code, is told wherever the failure is."""
    failed = Evaluation(source=EvaluationSource.CHECK, fault="raised", detail={"error": "KeyError"})
    step = conclusion_of(a_mission(owed=True, faults=2), failed)
    assert step.events[0].facts["error"] == "KeyError"
    assert step.mission.escalation is not None
    assert step.mission.escalation.facts["error"] == "KeyError"


def test_a_verdict_whose_lease_is_gone_counts_no_more() -> None:
    """Suspended and resumed while the judge was thinking, a mission waits for another verdict."""
    lease = Lease(owner="w2", since=MOMENT, until=MOMENT + timedelta(minutes=1))
    step = conclusion_of(a_mission(owed=True, evaluating=lease), held=False)
    assert (step.mission.state, step.mission.owed) == (MissionState.ACTIVE, True)
    assert step.mission.evaluating == lease
    assert step.events[0].facts["counts"] is False
