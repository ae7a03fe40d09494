"""Missions in every state for the pages: written as they stand, whatever led there."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from sureline.core.mission.step import Step
from sureline.core.values.mission import (
    Cause,
    Escalation,
    EventKind,
    LastEvaluation,
    Mission,
    MissionEvent,
    MissionState,
    Spent,
)
from sureline.core.values.mission_kind import Budget
from sureline.testing import MOMENT
from tests.web.controlled import HOSTILE
from tests.web.served import Served, awaited

TURN = timedelta(minutes=9)


def mission(name: str, **changes: Any) -> Mission:
    """Make a mission of two hours ago."""
    began = MOMENT - timedelta(hours=2)
    values: dict[str, Any] = {
        "workspace": "default",
        "id": name,
        "kind": "reconciliation",
        "objective": "Close the six open disputes of the March ledger.",
        "criteria": ("every dispute is closed", "the ledger balances to the cent"),
        "state": MissionState.ACTIVE,
        "cause": Cause.STARTED,
        "created_at": began,
        "updated_at": began,
        "deadline_at": began + timedelta(hours=8),
        "max_invocations": 20,
        "budget": Budget(tokens=200_000, cost=5.0),
        "submitted_by": "a agent",
    }
    return Mission(**{**values, **changes})


def told(of: Mission, kind: EventKind, after: timedelta, **changes: Any) -> MissionEvent:
    """Make an event of a mission."""
    values: dict[str, Any] = {
        "workspace": of.workspace,
        "mission_id": of.id,
        "kind": kind,
        "at": of.created_at + after,
        "state": MissionState.ACTIVE,
        "cause": Cause.STARTED,
        "invocation": 0,
    }
    return MissionEvent(**{**values, **changes})


def evaluated(of: Mission, turn: int, confidence: float, *, achieved: bool) -> MissionEvent:
    """Make the event of an evaluation."""
    facts = {
        "decision_id": f"{of.id}.1.{turn}",
        "source": "judge",
        "achieved": achieved,
        "confidence": confidence,
        "completeness": 1.0,
        "threshold": 0.7,
    }
    return told(of, EventKind.EVALUATED, TURN * turn, invocation=turn, facts=facts)


def turns(of: Mission, last: int, confidences: dict[int, float]) -> list[MissionEvent]:
    """Make the rows of so many invocations with an evaluation after some."""
    rows = [
        told(of, EventKind.CREATED, timedelta(0), state=MissionState.CREATED, cause=Cause.CREATED),
        told(of, EventKind.STARTED, timedelta(seconds=3)),
    ]
    for turn in range(1, last + 1):
        at = TURN * turn
        rows.append(told(of, EventKind.INVOCATION_BEGUN, at - TURN / 2, invocation=turn))
        facts = {"tokens": 4_100 * turn, "calls": 3}
        rows.append(told(of, EventKind.INVOCATION_ENDED, at, invocation=turn, facts=facts))
        if turn in confidences:
            rows.append(evaluated(of, turn, confidences[turn], achieved=turn > 8))
    return rows


def put(served: Served, *steps: Step) -> None:
    """Write missions as they stand."""
    for one in steps:
        awaited(served.services.store.missions.create(one))


def waiting(name: str = "march-disputes", words: str = "", **changes: Any) -> Step:
    """Return a mission of which the judge is not sure; `words` go wherever somebody writes."""
    last = LastEvaluation(
        decision_id=f"{name}.1.11",
        invocation=11,
        at=MOMENT - timedelta(minutes=20),
        achieved=True,
        confidence=0.58,
        reasoning=f"Five disputes have a closing entry; of the sixth only a draft is seen. {words}",
        progress=f"Five of six closed. {words}",
    )
    facts = {"source": "judge", "achieved": "True", "confidence": "0.58"}
    at = MOMENT - timedelta(minutes=20)
    one = mission(
        name,
        state=MissionState.SUSPENDED,
        cause=Cause.UNSURE,
        invocations=11,
        evaluated=11,
        updated_at=at,
        spent=Spent(tokens=184_000, cost=2.4, calls=33, unknown=1),
        last=last,
        escalation=Escalation(
            cause=Cause.UNSURE,
            since=at,
            reminded=1,
            remind_at=at + timedelta(hours=1),
            facts=facts,
        ),
        **changes,
    )
    if words:
        one = replace(one, objective=f"{one.objective} {words}", criteria=(words, *one.criteria))
    rows = turns(one, 11, {3: 0.81, 5: 0.66, 8: 0.9, 11: 0.58})
    rows.insert(
        15,
        told(
            one,
            EventKind.SUSPENDED,
            TURN * 5 + timedelta(seconds=9),
            state=MissionState.SUSPENDED,
            cause=Cause.UNSURE,
            invocation=5,
            facts={"source": "judge", "achieved": False, "confidence": 0.66},
        ),
    )
    rows.insert(
        16,
        told(
            one,
            EventKind.RESUMED,
            TURN * 5 + timedelta(minutes=6),
            cause=Cause.STARTED,
            invocation=5,
            by="ada",
            facts={"note": words or "the sixth is still open"},
        ),
    )
    rows.append(
        told(
            one,
            EventKind.SUSPENDED,
            TURN * 11 + timedelta(seconds=9),
            state=MissionState.SUSPENDED,
            cause=Cause.UNSURE,
            invocation=11,
            facts={"source": "judge", "achieved": True, "confidence": 0.58, "threshold": 0.7},
        )
    )
    return Step(mission=one, events=tuple(rows))


def completed(name: str = "april-disputes") -> Step:
    """Return a mission that a sure judge completed."""
    last = LastEvaluation(
        decision_id=f"{name}.1.6", invocation=6, at=MOMENT, achieved=True, confidence=0.93
    )
    one = mission(
        name,
        state=MissionState.COMPLETED,
        cause=Cause.ACHIEVED,
        invocations=6,
        evaluated=6,
        updated_at=MOMENT,
        ended_at=MOMENT,
        last=last,
    )
    facts = {"source": "judge", "achieved": True, "confidence": 0.93}
    end = told(
        one,
        EventKind.COMPLETED,
        TURN * 6,
        state=MissionState.COMPLETED,
        cause=Cause.ACHIEVED,
        invocation=6,
        facts=facts,
    )
    return Step(mission=one, events=(*turns(one, 6, {3: 0.8}), end))


def failed(name: str = "vendor-sweep") -> Step:
    """Return a mission that had all its invocations."""
    one = mission(
        name,
        state=MissionState.FAILED,
        cause=Cause.CEILING,
        invocations=20,
        evaluated=20,
        updated_at=MOMENT,
        ended_at=MOMENT,
    )
    end = told(
        one,
        EventKind.FAILED,
        TURN * 12,
        state=MissionState.FAILED,
        cause=Cause.CEILING,
        invocation=20,
        facts={"invocations": 20, "limit": 20},
    )
    return Step(mission=one, events=(*turns(one, 12, {}), end))


def active(name: str = "migrate-forty") -> Step:
    """Return a mission that works."""
    one = mission(name, invocations=3, kind="migration")
    return Step(mission=one, events=tuple(turns(one, 3, {})))


def created(name: str = "new") -> Step:
    """Return a mission that has not begun."""
    one = mission(name, state=MissionState.CREATED, cause=Cause.CREATED)
    return Step(mission=one, events=tuple(turns(one, 0, {})[:1]))


def all_states() -> list[Step]:
    """Return one mission of each state, one of them with hostile text in it."""
    return [
        waiting(),
        waiting("of <b>evil</b>/\u202e", HOSTILE * 3, submitted_by=HOSTILE[:100]),
        completed(),
        failed(),
        active(),
        created(),
    ]
