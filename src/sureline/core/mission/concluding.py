"""Conclude from an evaluation: complete, go on, ask a person, or fail (M3-M6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from sureline.core.mission.evaluation import Evaluation, EvaluationSource
from sureline.core.mission.step import Step
from sureline.core.mission.timing import timed_out
from sureline.core.mission.transitions import (
    ACTIVE,
    COMPLETED,
    CREATED,
    FAILED,
    SUSPENDED,
    moved,
    stepped,
    then,
)
from sureline.core.values.mission import Cause, EventKind, LastEvaluation, Mission
from sureline.core.values.mission_kind import MissionKind

TRIES = 3
"""How often an evaluation is tried where no judge says so."""


class Verdict(StrEnum):
    """What follows from an evaluation."""

    COMPLETE = "complete"
    GO_ON = "go_on"
    ASK = "ask"
    """The mission is suspended until a person has said how it goes on."""
    FAIL = "fail"
    RETRY = "retry"
    """The evaluation failed and is tried again; nothing goes on meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conclusion:
    """What follows, and why."""

    verdict: Verdict
    cause: Cause


def conclude(
    mission: Mission,
    kind: MissionKind,
    evaluation: Evaluation,
    *,
    sure: bool,
    switched: bool,
    now: datetime,
    overdue: bool,
) -> Conclusion:
    """Return what follows; the first that applies, in the order of docs/explanation/missions.md.

    `sure` says that the judge's confidence reaches the threshold in force; a check needs none.
    What is achieved completes even if its time has passed while it was evaluated.
    """
    if evaluation.achieved is None:
        return _failed(mission, kind, evaluation)
    checked = evaluation.source is EvaluationSource.CHECK
    if not checked and not sure:
        return Conclusion(verdict=Verdict.ASK, cause=Cause.UNSURE)
    if evaluation.achieved:
        return _achieved(kind, evaluation, checked=checked, switched=switched)
    if overdue or now >= mission.deadline_at:
        return Conclusion(verdict=Verdict.FAIL, cause=Cause.DEADLINE)
    if mission.invocations >= mission.max_invocations:
        return Conclusion(verdict=Verdict.FAIL, cause=Cause.CEILING)
    return Conclusion(verdict=Verdict.GO_ON, cause=Cause.STARTED)


def _achieved(
    kind: MissionKind, evaluation: Evaluation, *, checked: bool, switched: bool
) -> Conclusion:
    cause = Cause.ACHIEVED
    if switched:
        cause = Cause.SWITCH
    elif not checked and evaluation.completeness < kind.least_evidence:
        cause = Cause.LITTLE_EVIDENCE
    elif not kind.auto_complete:
        cause = Cause.TO_CONFIRM
    verdict = Verdict.COMPLETE if cause is Cause.ACHIEVED else Verdict.ASK
    return Conclusion(verdict=verdict, cause=cause)


def _failed(mission: Mission, kind: MissionKind, evaluation: Evaluation) -> Conclusion:
    checked = evaluation.source is EvaluationSource.CHECK
    cause = Cause.CHECK_FAILED if checked else Cause.JUDGE_UNAVAILABLE
    tries = TRIES if kind.judge is None else kind.judge.tries
    last = mission.faults + 1 >= tries
    return Conclusion(verdict=Verdict.ASK if last else Verdict.RETRY, cause=cause)


def concluded(
    mission: Mission,
    kind: MissionKind,
    evaluation: Evaluation,
    conclusion: Conclusion,
    *,
    decision_id: str,
    now: datetime,
    revision: int | None = None,
) -> Step:
    """Return the mission after an evaluation, which is remembered in any case.

    Of an earlier `revision` of the objective, and of a mission that was suspended or is over
    meanwhile, it changes no state: a person, or time, has spoken first.
    """
    if revision is not None and revision != mission.revision:
        after = replace(mission, evaluating=None)
        facts = {**_facts(evaluation), "of_revision": revision, "counts": False}
        return stepped(mission, after, EventKind.EVALUATED, now=now, facts=facts)
    step = _remembered(mission, evaluation, decision_id, now)
    if mission.state not in {CREATED, ACTIVE}:
        return step
    return _moved(step, kind, evaluation, conclusion, now)


def _moved(
    step: Step, kind: MissionKind, evaluation: Evaluation, conclusion: Conclusion, now: datetime
) -> Step:
    mission, cause, facts = step.mission, conclusion.cause, _facts(evaluation)
    if conclusion.verdict is Verdict.FAIL:
        if cause is Cause.DEADLINE:
            return then(step, timed_out(mission, kind, now=now))
        facts = {"invocations": mission.invocations, "limit": mission.max_invocations}
        return then(step, moved(mission, kind, FAILED, cause, now=now, facts=facts))
    if conclusion.verdict is Verdict.COMPLETE:
        return then(step, moved(mission, kind, COMPLETED, cause, now=now, facts=facts))
    if conclusion.verdict is Verdict.ASK:
        return then(step, moved(mission, kind, SUSPENDED, cause, now=now, facts=facts))
    return step


def _remembered(mission: Mission, evaluation: Evaluation, decision_id: str, now: datetime) -> Step:
    """Return the mission that knows of the evaluation; one that failed leaves it owed."""
    failed = evaluation.achieved is None
    after = replace(
        mission,
        evaluating=None,
        owed=failed,
        faults=mission.faults + 1 if failed else 0,
        evaluated=mission.evaluated if failed else mission.invocations,
        last=LastEvaluation(
            decision_id=decision_id,
            invocation=mission.invocations,
            at=now,
            achieved=evaluation.achieved,
            confidence=evaluation.confidence,
            fault=evaluation.fault,
            reasoning=evaluation.reasoning,
            progress=evaluation.progress,
        ),
    )
    event = EventKind.EVALUATION_FAILED if failed else EventKind.EVALUATED
    return stepped(mission, after, event, now=now, facts=_facts(evaluation))


def _facts(evaluation: Evaluation) -> dict[str, Any]:
    found: dict[str, Any] = {"source": evaluation.source.value}
    if evaluation.fault is not None:
        return {**found, "fault": evaluation.fault}
    found |= {"achieved": evaluation.achieved, "confidence": evaluation.confidence}
    if evaluation.source is EvaluationSource.JUDGE:
        found["completeness"] = round(evaluation.completeness, 4)
    return found
