"""What a person's answer to an escalation says of the evaluation that led to it (M8)."""

from __future__ import annotations

from datetime import datetime

from sureline.core.values.mission import Cause, Mission, MissionState
from sureline.core.values.outcome import Action, Outcome, OutcomeSource

ASKED = frozenset({Cause.UNSURE, Cause.TO_CONFIRM, Cause.LITTLE_EVIDENCE, Cause.SWITCH})
"""What a person was asked: whether the objective is achieved. Of a judge that failed nobody is."""


def answer_of(
    mission: Mission,
    label: Action | None,
    *,
    outcome_id: str,
    by: str,
    now: datetime,
    note: str,
) -> Outcome | None:
    """Return the label of the evaluation that a mission is suspended for, None if it has none.

    Whoever answers has seen what the judge said, so the label is anchored.
    """
    last = mission.last
    if label is None or last is None or last.fault is not None:
        return None
    if mission.state is not MissionState.SUSPENDED or mission.cause not in ASKED:
        return None
    return Outcome(
        id=outcome_id,
        workspace=mission.workspace,
        decision_id=last.decision_id,
        action=label,
        correct=label is Action.APPROVE,
        source=OutcomeSource.REVIEW,
        by=by,
        anchored=True,
        recorded_at=now,
        comment=note or None,
    )
