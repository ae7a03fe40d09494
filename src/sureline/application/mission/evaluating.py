"""Try once to find out whether the objective is achieved: the check first, then the judge."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from typing import Any

from sureline.application.measure import is_cancelled
from sureline.application.mission.check import Checks, SuccessCheck
from sureline.application.ports.missions import MissionJudgePort
from sureline.core.mission.concluding import CHECK_UNDECIDED, NO_JUDGE
from sureline.core.mission.evaluation import Evaluation, EvaluationSource
from sureline.core.values.finding import Finding
from sureline.core.values.mission import Mission
from sureline.core.values.mission_kind import MissionKind
from sureline.core.values.signal import unit_interval_fault
from sureline.errors import ModelFailed

SECONDS = 60.0
"""What a program's own judge has where the policy names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluating:
    """Evaluates missions; whatever fails is a failed evaluation, never a judgement (M6)."""

    judge: MissionJudgePort | None
    checks: Checks = field(default_factory=Checks)

    async def try_once(
        self, mission: Mission, kind: MissionKind, check: SuccessCheck | None = None
    ) -> Evaluation:
        """Return what the check says or, where there is none or it says None, what the judge does.

        A check that fails is not made up for by the judge, and one that says None where nobody else
        can be asked has failed (`check_undecided`). Raises nothing but CancelledError,
        where whoever asks is cancelled.
        """
        if check is not None:
            found = await self.checks.run(check, mission, kind.check_seconds)
            if found is not None:
                return found
        if self.judge is None:
            found = _failed(NO_JUDGE)
        else:
            found = await _judged(self.judge, mission, kind)
        return _undecided() if check is not None and found.fault == NO_JUDGE else found


async def _judged(judge: MissionJudgePort, mission: Mission, kind: MissionKind) -> Evaluation:
    seconds = SECONDS if kind.judge is None else kind.judge.seconds
    try:
        evaluation = await _within(seconds, judge.judge(mission, kind))
    except TimeoutError:
        return _failed("deadline")
    except ModelFailed as error:
        return _failed(error.reason, *error.findings)
    except asyncio.CancelledError as error:
        if is_cancelled():
            raise
        return _raised(error)
    except Exception as error:  # noqa: BLE001 - whatever a judge raises is a failed judge
        return _raised(error)
    return _believed(evaluation)


async def _within(seconds: float, judging: Coroutine[Any, Any, Evaluation]) -> Evaluation:
    """Wait for so long, then for nothing: a judge that ignores being cancelled is left behind."""
    task = asyncio.create_task(judging)
    task.add_done_callback(_heard)
    try:
        await asyncio.wait({task}, timeout=seconds)
    finally:
        task.cancel()
    if not task.done():
        raise TimeoutError
    return task.result()


def _heard(task: asyncio.Task[Evaluation]) -> None:
    """Look at what a task raised, so that nobody warns of one that was left behind."""
    if not task.cancelled():
        task.exception()


def _believed(evaluation: object) -> Evaluation:
    """Return a judge's evaluation if it is one: a program's own judge may return anything."""
    if not isinstance(evaluation, Evaluation):
        return _failed("not_an_evaluation")
    share = unit_interval_fault(evaluation.completeness)
    if share is not None:
        return _failed(f"completeness_{share}")
    if evaluation.fault is not None:
        return replace(evaluation, source=EvaluationSource.JUDGE)
    if not isinstance(evaluation.achieved, bool):
        return _failed("achieved_not_boolean")
    number = unit_interval_fault(evaluation.confidence)
    if number is not None:
        return _failed(f"confidence_{number}")
    return replace(evaluation, source=EvaluationSource.JUDGE)


def _raised(error: BaseException) -> Evaluation:
    words = f"The judge raised {type(error).__name__}."
    return _failed("judge_raised", Finding(code="judge_raised", message=words))


def _undecided() -> Evaluation:
    words = "The check left it to the judge, and this kind of mission has none."
    found = (Finding(code=CHECK_UNDECIDED, message=words),)
    return Evaluation(source=EvaluationSource.CHECK, fault=CHECK_UNDECIDED, findings=found)


def _failed(fault: str, *findings: Finding) -> Evaluation:
    return Evaluation(source=EvaluationSource.JUDGE, fault=fault, findings=findings)
