"""Conclude from an evaluation: complete, go on, ask a person, or fail (M3-M6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from sureline.core.mission.evaluation import Evaluation, EvaluationSource
from sureline.core.mission.health import over_budget
from sureline.core.mission.invoking import owes, tripped
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
CHECK_UNDECIDED, NO_JUDGE = "check_undecided", "no_judge"
_STAY = frozenset({CHECK_UNDECIDED, NO_JUDGE})
"""Nobody is there to be asked: another try finds out no more."""


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
    if mission.invocations >= mission.max_invocations:
        return Conclusion(verdict=Verdict.FAIL, cause=Cause.CEILING)
    if overdue or now >= mission.deadline_at:
        return Conclusion(verdict=Verdict.FAIL, cause=Cause.DEADLINE)
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
    last = evaluation.fault in _STAY or mission.faults + 1 >= tries
    return Conclusion(verdict=Verdict.ASK if last else Verdict.RETRY, cause=cause)


def concluded(  # noqa: PLR0913 - what was seen and what holds now are different things
    mission: Mission,
    kind: MissionKind,
    evaluation: Evaluation,
    conclusion: Conclusion,
    *,
    seen: Mission,
    decision_id: str,
    now: datetime,
    threshold: float | None = None,
    held: bool = True,
) -> Step:
    """Return the mission after an evaluation of it as it was `seen`.

    One of an earlier revision, one that arrives after the mission was suspended or is over, one
    whose lease is not `held` any more (suspended and resumed meanwhile, or another's by now), and
    one of what another worker has judged changes nothing and is in the timeline: somebody has
    spoken first. What is owed stays so, and is found out anew. `threshold`, the one in force, is
    written down with the rest.
    """
    facts = _facts(evaluation)
    if threshold is not None and evaluation.source is EvaluationSource.JUDGE:
        facts["threshold"] = threshold
    event = EventKind.EVALUATED if evaluation.fault is None else EventKind.EVALUATION_FAILED
    if not counts(mission, seen, held=held):
        of = {"of_revision": seen.revision, "of_invocation": seen.invocations}
        late = {**facts, **of, "counts": False}
        # Another evaluation may be under way by now: its lease stays.
        ours = held and seen.revision == mission.revision
        left = replace(mission, evaluating=None) if ours else mission
        return stepped(mission, left, event, now=now, facts=late)
    facts["decision_id"] = decision_id
    after = _remembered(mission, kind, evaluation, seen.invocations, decision_id, now)
    step = stepped(mission, after, event, now=now, facts=facts)
    return _moved(step, kind, conclusion, facts, now)


def counts(mission: Mission, seen: Mission, *, held: bool = True) -> bool:
    """Tell whether what was found about `seen` says something of the mission as it is now."""
    judged = 0 < seen.invocations <= mission.evaluated
    at_work = mission.state in {CREATED, ACTIVE}
    return held and seen.revision == mission.revision and not judged and at_work


def _moved(
    step: Step, kind: MissionKind, conclusion: Conclusion, facts: dict[str, Any], now: datetime
) -> Step:
    mission, cause = step.mission, conclusion.cause
    to = _TO.get(conclusion.verdict)
    if to is None:
        return _went_on(step, kind, conclusion, now)
    if cause is Cause.DEADLINE:
        return then(step, timed_out(mission, kind, now=now))
    if cause is Cause.CEILING:
        facts = {"invocations": mission.invocations, "limit": mission.max_invocations}
    # A notice names the evaluation in a field of its own.
    told = {name: value for name, value in facts.items() if name != "decision_id"}
    return then(step, moved(mission, kind, to, cause, now=now, facts=told))


def _went_on(step: Step, kind: MissionKind, conclusion: Conclusion, now: datetime) -> Step:
    """Suspend what goes on with its budget used up: the evaluation was to come first."""
    met = over_budget(step.mission.spent, step.mission.budget)
    if met is None or conclusion.verdict is not Verdict.GO_ON:
        return step
    return then(step, tripped(step.mission, kind, met, now=now))


_TO = {Verdict.COMPLETE: COMPLETED, Verdict.ASK: SUSPENDED, Verdict.FAIL: FAILED}


def _remembered(
    mission: Mission,
    kind: MissionKind,
    evaluation: Evaluation,
    invocation: int,
    decision_id: str,
    now: datetime,
) -> Mission:
    """Return the mission that knows of the evaluation; one that failed leaves it owed.

    Invocations that were made meanwhile are not evaluated by it.
    """
    failed = evaluation.achieved is None
    after = replace(
        mission,
        evaluating=None,
        owed=failed,
        faults=mission.faults + 1 if failed else 0,
        evaluated=mission.evaluated if failed else max(mission.evaluated, invocation),
        last=LastEvaluation(
            decision_id=decision_id,
            invocation=invocation,
            at=now,
            achieved=evaluation.achieved,
            confidence=evaluation.confidence,
            fault=evaluation.fault,
            reasoning=evaluation.reasoning,
            progress=evaluation.progress,
        ),
    )
    return replace(after, owed=owes(after, kind))


def _facts(evaluation: Evaluation) -> dict[str, Any]:
    found: dict[str, Any] = {"source": evaluation.source.value}
    if evaluation.fault is not None:
        return {**found, "fault": evaluation.fault, **evaluation.detail}
    found |= {"achieved": evaluation.achieved, "confidence": evaluation.confidence}
    if evaluation.source is EvaluationSource.JUDGE:
        found["completeness"] = round(evaluation.completeness, 4)
    return found
