"""A mission for tests: six open disputes, under a kind that asks a judge of another maker."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from sureline.core.values.mission import Cause, Mission, MissionState
from sureline.core.values.mission_kind import Budget, MissionJudge, MissionKind
from sureline.testing import MOMENT

KIND = MissionKind(
    name="reconciliation",
    judge=MissionJudge(model="two:sceptic-1"),
    agent_model="one:alpha-9",
    check_seconds=5.0,
)
"""The kind `reconciliation`."""

_MISSION = Mission(
    workspace="default",
    id="m-1",
    kind="reconciliation",
    objective="Close the six open disputes.",
    criteria=("No dispute is open.", "Each has a reason."),
    state=MissionState.ACTIVE,
    cause=Cause.STARTED,
    created_at=MOMENT,
    deadline_at=MOMENT + timedelta(hours=24),
    max_invocations=100,
    budget=Budget(),
    updated_at=MOMENT,
    invocations=3,
)


def a_mission(**changes: Any) -> Mission:
    """Return an active mission after three invocations, with these fields in place of its own."""
    return replace(_MISSION, **changes)
