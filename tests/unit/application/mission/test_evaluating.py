"""One try to evaluate a mission: who is asked, and what counts as an answer."""

from __future__ import annotations

import asyncio
import math
from dataclasses import replace
from typing import Any

import pytest

from sureline.application.mission.check import SuccessCheck
from sureline.application.mission.evaluating import Evaluating
from sureline.core.mission.evaluation import Evaluation, EvaluationSource
from sureline.core.values.finding import Finding
from sureline.core.values.mission import Mission
from sureline.core.values.mission_kind import MissionJudge, MissionKind
from sureline.errors import ModelFailed
from sureline.testing import FakeMissionJudge
from tests.a_mission import KIND, a_mission


def _raises(_mission: Mission) -> bool:
    raise RuntimeError


CHECKS: dict[str, tuple[SuccessCheck | None, bool | None, str | None, int]] = {
    "no_check": (None, True, None, 1),
    "leaves_it": (lambda _mission: None, True, None, 1),
    "true": (lambda _mission: True, True, None, 0),
    "false": (lambda _mission: False, False, None, 0),
    "raises": (_raises, None, "check_raised", 0),
    "no_truth": (lambda _mission: "yes", None, "check_not_boolean", 0),  # type: ignore[dict-item]
}


@pytest.mark.parametrize(("check", "achieved", "fault", "asked"), CHECKS.values(), ids=CHECKS)
async def test_the_judge_is_asked_only_where_the_check_leaves_it(
    check: SuccessCheck | None, achieved: bool | None, fault: str | None, asked: int
) -> None:
    """A check that answers or fails costs no call of a model, and no judge stands in for it."""
    judge = FakeMissionJudge.saying(True, 0.9)
    found = await Evaluating(judge=judge).try_once(a_mission(), KIND, check)
    assert (found.achieved, found.fault, len(judge.asked)) == (achieved, fault, asked)


def saying(**fields: Any) -> Evaluation:
    """Return an evaluation that no reader of ours would let through."""
    made = Evaluation(source=EvaluationSource.JUDGE, achieved=True, confidence=0.9)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


SAID: dict[str, tuple[Any, str]] = {
    "no_evaluation": (True, "not_an_evaluation"),
    "nothing": (None, "not_an_evaluation"),
    "text": (saying(achieved="false"), "achieved_not_boolean"),
    "number": (saying(achieved=1), "achieved_not_boolean"),
    "percent": (saying(confidence=85), "confidence_out_of_range"),
    "nan": (saying(confidence=math.nan), "confidence_not_finite"),
    "truth": (saying(confidence=True), "confidence_not_a_number"),
    "completeness": (saying(completeness=1.5), "completeness_out_of_range"),
    "raises": (ValueError("iban DE44"), "judge_raised"),
    "cancelled_inside": (asyncio.CancelledError(), "judge_raised"),
    "gives_none": (ModelFailed("rate_limited"), "rate_limited"),
}


@pytest.mark.parametrize(("said", "fault"), SAID.values(), ids=SAID)
async def test_what_is_no_evaluation_is_a_failed_one(said: Any, fault: str) -> None:
    """A program's own judge is held to what a model's reply is held to."""

    class Judge:
        async def judge(self, mission: Mission, kind: MissionKind) -> Any:
            if isinstance(said, BaseException):
                raise said
            return said

    found = await Evaluating(judge=Judge()).try_once(a_mission(), KIND)
    assert (found.fault, found.achieved, found.confidence) == (fault, None, None)
    assert "DE44" not in str(found)


async def test_findings_of_a_failed_judge_are_kept() -> None:
    """A reply that nobody could read is there for a person to look at."""
    finding = Finding(code="reply", message="ok!")
    judge = FakeMissionJudge(ModelFailed("no_object", findings=(finding,)))
    found = await Evaluating(judge=judge).try_once(a_mission(), KIND)
    assert found.findings == (finding,)


async def test_a_judge_is_given_its_own_time() -> None:
    """A judge that hangs is a failed evaluation after the kind's seconds, not a hung mission."""

    class Judge:
        async def judge(self, mission: Mission, kind: MissionKind) -> Evaluation:
            await asyncio.Event().wait()
            raise AssertionError

    kind = replace(KIND, judge=MissionJudge(model="two:sceptic-1", seconds=0.01))
    found = await Evaluating(judge=Judge()).try_once(a_mission(), kind)
    assert found.fault == "deadline"


async def test_a_judge_that_will_not_be_cancelled_is_left_behind() -> None:
    """A judge that ignores being cancelled outlives its time, and nobody waits for it."""
    go_on = asyncio.Event()

    class Judge:
        async def judge(self, mission: Mission, kind: MissionKind) -> Evaluation:
            while not go_on.is_set():
                try:
                    await go_on.wait()
                except asyncio.CancelledError:
                    continue
            raise RuntimeError

    kind = replace(KIND, judge=MissionJudge(model="two:sceptic-1", seconds=0.01))
    found = await Evaluating(judge=Judge()).try_once(a_mission(), kind)
    assert found.fault == "deadline"
    go_on.set()


async def test_without_anybody_to_ask_nothing_is_made_up() -> None:
    """No check and no judge is a failed evaluation."""
    found = await Evaluating(judge=None).try_once(a_mission(), KIND)
    assert (found.fault, found.source) == ("no_judge", EvaluationSource.JUDGE)


@pytest.mark.parametrize("none", [True, False], ids=["no judge", "the kind has none"])
async def test_a_check_that_leaves_it_to_nobody_has_failed(none: bool) -> None:
    """The check is what somebody must look at: there is no judge that could be unavailable."""
    judge = None if none else FakeMissionJudge(ModelFailed("no_judge"))
    found = await Evaluating(judge=judge).try_once(a_mission(), KIND, lambda _mission: None)
    assert (found.fault, found.source) == ("check_undecided", EvaluationSource.CHECK)


async def test_a_judge_cannot_pass_for_a_check() -> None:
    """What the judge's port says is a judge's word, whatever it calls itself."""
    said = Evaluation(source=EvaluationSource.CHECK, achieved=True, confidence=1.0)
    found = await Evaluating(judge=FakeMissionJudge(said)).try_once(a_mission(), KIND)
    assert found.source is EvaluationSource.JUDGE


async def test_whoever_asks_can_be_cancelled() -> None:
    """Being cancelled goes through, and is no failure of the judge."""
    entered = asyncio.Event()

    class Judge:
        async def judge(self, mission: Mission, kind: MissionKind) -> Evaluation:
            entered.set()
            await asyncio.Event().wait()
            raise AssertionError

    task = asyncio.create_task(Evaluating(judge=Judge()).try_once(a_mission(), KIND))
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
