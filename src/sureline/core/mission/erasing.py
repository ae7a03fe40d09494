"""What is left of a mission once its words are erased (L12)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sureline.core.mission.notices import mission_notice
from sureline.core.mission.step import Step
from sureline.core.mission.transitions import stepped
from sureline.core.values.mission import Cause, EventKind, Mission, MissionState, Tally
from sureline.core.values.mission_evidence import Evidence
from sureline.core.values.notification import NoticeKind


def without_words(mission: Mission) -> Mission:
    """Return a mission without what quotes, and without whom it is about; its figures stay."""
    return replace(
        without_verdict(mission),
        objective="",
        criteria=(),
        evidence=Evidence(),
        tally=Tally(),
        subject=None,
        erased=True,
    )


def without_verdict(mission: Mission) -> Mission:
    """Return a mission without the words of its latest evaluation."""
    if mission.last is None:
        return mission
    return replace(mission, last=replace(mission.last, reasoning=None, progress=None))


def forgotten(mission: Mission, *, at: datetime, by: str | None, facts: Mapping[str, Any]) -> Step:
    """Return a mission as its erasure leaves it: one that is not over fails.

    Without its objective nobody could work on it, or say whether it is achieved. Whoever was called
    for it is told that this is over.
    """
    left = without_words(mission)
    if not mission.state.is_over:
        left = replace(
            left,
            state=MissionState.FAILED,
            cause=Cause.PERSON,
            ended_at=at,
            owed=False,
            running=None,
            evaluating=None,
            escalation=None,
        )
    step = stepped(mission, left, EventKind.ERASED, now=at, by=by, facts=facts)
    if mission.escalation is None or left.escalation is not None:
        return step
    return replace(
        step, notices=(mission_notice(step.mission, NoticeKind.MISSION_RECOVERED, at, {}),)
    )
