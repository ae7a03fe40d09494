"""Missions and their steps for the tests of the store."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from sureline.application.ports.ledger import DecisionRecord
from sureline.application.ports.missions import Change
from sureline.core.mission.step import Step
from sureline.core.values.mission import (
    Cause,
    Escalation,
    EventKind,
    LastEvaluation,
    Lease,
    Mission,
    MissionEvent,
    MissionState,
    Spent,
    Tally,
)
from sureline.core.values.mission_evidence import Cut, Evidence, ToolCall, Turn
from sureline.core.values.mission_kind import Budget
from sureline.core.values.notification import Notice, NoticeKind
from tests.adapters.storage.samples import NOON, outcome, record

HERE = "default"
SLICE = "mission.reconciliation"


def mission(name: str = "m1", **changes: Any) -> Mission:
    """Make a new mission."""
    values: dict[str, Any] = {
        "workspace": HERE,
        "id": name,
        "kind": "reconciliation",
        "objective": "Match Acme's invoices",
        "criteria": ("every invoice has a payment", "größe \x00"),
        "state": MissionState.CREATED,
        "cause": Cause.CREATED,
        "created_at": NOON,
        "updated_at": NOON,
        "deadline_at": NOON + timedelta(hours=8),
        "max_invocations": 20,
        "budget": Budget(tokens=1_000, cost=2.0),
    }
    return Mission(**{**values, **changes})


def full_mission(name: str = "m1", **changes: Any) -> Mission:
    """Make a mission in which every field says something."""
    values: dict[str, Any] = {
        "state": MissionState.SUSPENDED,
        "cause": Cause.UNSURE,
        "revision": 2,
        "version": 9,
        "submitted_by": "key-1",
        "subject": "customer 17",
        "invocations": 7,
        "evaluated": 5,
        "owed": True,
        "faults": 1,
        "running": Lease(owner="w1", since=NOON, until=NOON + timedelta(minutes=1)),
        "evaluating": Lease(owner="w2", since=NOON, until=NOON + timedelta(minutes=2)),
        "spent": Spent(tokens=10, cost=0.1 + 0.2, calls=3, unknown=1),
        "tally": Tally(calls=("a", "b"), errors=(False, True), empty=2),
        "evidence": Evidence(
            conversation=(Turn(role="agent", text="done with Acme"),),
            calls=(ToolCall(name="write", arguments={"a": [1, 2.5, None]}, result="ok", ok=True),),
            state={"open": 3},
            trigger="timer",
            answer="done",
            tokens=5,
            cost=0.5,
            model="m",
            cut=Cut(turns=1, calls=2, characters=3),
        ),
        "last": LastEvaluation(
            decision_id=f"{name}.2.5",
            invocation=5,
            at=NOON,
            achieved=True,
            confidence=0.55,
            reasoning="Acme's last invoice is open",
            progress="most of it",
        ),
        "escalation": Escalation(
            cause=Cause.UNSURE,
            since=NOON,
            reminded=1,
            remind_at=NOON + timedelta(hours=1),
            facts={"confidence": "0.55"},
        ),
    }
    return mission(name, **{**values, **changes})


def event(of: Mission, kind: EventKind = EventKind.CREATED, **changes: Any) -> MissionEvent:
    """Make the event of a mission that says its state."""
    values: dict[str, Any] = {
        "workspace": of.workspace,
        "mission_id": of.id,
        "kind": kind,
        "at": of.updated_at,
        "state": of.state,
        "cause": of.cause,
        "invocation": of.invocations,
    }
    return MissionEvent(**{**values, **changes})


def begin(of: Mission | None = None) -> Step:
    """Make the step that creates a mission."""
    new = of or mission()
    return Step(mission=new, events=(event(new),))


def step(before: Mission, kind: EventKind = EventKind.INVOCATION_BEGUN, **changes: Any) -> Step:
    """Make a step with one event."""
    after = replace(before, version=before.version + 1, **changes)
    return Step(mission=after, events=(event(after, kind, facts={"n": after.invocations}),))


def counted(before: Mission) -> Change:
    """Count one more invocation."""
    return Change(step=step(before, invocations=before.invocations + 1))


def evaluation(name: str = "m1.1.1", **changes: Any) -> DecisionRecord:
    """Make the decision that an evaluation is."""
    values: dict[str, Any] = {
        "id": name,
        "slice_key": SLICE,
        "route": "auto_approve",
        "vector": None,
        "model_id": None,
        "request": b'{"objective": "Match Acme"}',
        **changes,
    }
    return record(name, **values)


def notice(of: Mission) -> Notice:
    """Make the notice that a mission waits for a person."""
    return Notice(
        workspace=of.workspace,
        id=f"{of.id}-{of.version}",
        kind=NoticeKind.MISSION_SUSPENDED,
        slice_key=SLICE,
        review_id="",
        decision_id=f"{of.id}.1.1",
        at=of.updated_at,
        facts={"mission": of.id, "cause": of.cause.value},
    )


def suspend(before: Mission) -> Change:
    """Suspend a mission over an evaluation, and tell."""
    done = step(
        before,
        EventKind.SUSPENDED,
        state=MissionState.SUSPENDED,
        cause=Cause.UNSURE,
        invocations=1,
        last=LastEvaluation(
            decision_id=f"{before.id}.1.1",
            invocation=1,
            at=NOON,
            achieved=True,
            confidence=0.5,
            reasoning="Acme is open",
            progress="most",
        ),
    )
    told = replace(done, notices=(notice(done.mission),))
    return Change(step=told, evaluation=evaluation(f"{before.id}.1.1"))


def evaluated(before: Mission) -> Change:
    """Evaluate one more invocation, answer the evaluation before, and tell."""
    number = before.invocations + 1
    done = step(before, EventKind.EVALUATED, invocations=number)
    said = outcome(f"o{number - 1}", f"m1.1.{number - 1}") if number > 1 else None
    return Change(
        step=replace(done, notices=(notice(done.mission),)),
        evaluation=evaluation(f"m1.1.{number}"),
        answer=said,
    )
