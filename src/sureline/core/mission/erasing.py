"""What is left of a mission once its words are erased (L12)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from sureline.core.values.mission import Cause, Mission, MissionState, Tally
from sureline.core.values.mission_evidence import Evidence


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


def forgotten(mission: Mission, *, at: datetime) -> Mission:
    """Return a mission as its erasure leaves it: one that is not over fails.

    Without its objective nobody could work on it, or say whether it is achieved.
    """
    left = replace(without_words(mission), version=mission.version + 1, updated_at=at)
    if mission.state.is_over:
        return left
    return replace(
        left,
        state=MissionState.FAILED,
        cause=Cause.PERSON,
        ended_at=at,
        owed=False,
        running=None,
        evaluating=None,
        escalation=None,
    )
