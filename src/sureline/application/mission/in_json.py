"""Missions as JSON, for programs, the command line and pages."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sureline.core.mission.summary import summary
from sureline.core.values.mission import Escalation, LastEvaluation, Lease, Mission, MissionEvent

THRESHOLD = "threshold"
"""Among facts: how sure a judge must be."""


def mission_json(mission: Mission, *, now: datetime, thresholds: bool = True) -> dict[str, Any]:
    """Return how a mission stands; evidence and what health remembers are left out.

    Without `thresholds` it is not said how sure a judge must be: for whoever is judged.
    """
    last, called = mission.last, mission.escalation
    return {
        "id": mission.id,
        "kind": mission.kind,
        "objective": mission.objective,
        "criteria": list(mission.criteria),
        "revision": mission.revision,
        "state": mission.state.value,
        "cause": mission.cause.value,
        "created_at": _at(mission.created_at),
        "updated_at": _at(mission.updated_at),
        "ended_at": _at(mission.ended_at),
        "deadline_at": _at(mission.deadline_at),
        "invocations": mission.invocations,
        "max_invocations": mission.max_invocations,
        "running_until": _until(mission.running, now),
        "evaluation_owed": mission.owed,
        "evaluated": mission.evaluated,
        "spent": {
            "tokens": mission.spent.tokens,
            "cost": mission.spent.cost,
            "calls": mission.spent.calls,
            "unknown": mission.spent.unknown,
        },
        "budget": {
            "tokens": mission.budget.tokens,
            "cost": mission.budget.cost,
            "calls": mission.budget.calls,
        },
        "last_evaluation": None if last is None else _evaluation(last),
        "escalation": None if called is None else _escalation(called, thresholds),
        "submitted_by": mission.submitted_by,
        "erased": mission.erased,
        "summary": summary(mission, now),
    }


def _evaluation(last: LastEvaluation) -> dict[str, Any]:
    return {
        "decision_id": last.decision_id,
        "invocation": last.invocation,
        "at": _at(last.at),
        "achieved": last.achieved,
        "confidence": last.confidence,
        "fault": last.fault,
        "reasoning": last.reasoning,
        "progress": last.progress,
    }


def _escalation(called: Escalation, thresholds: bool) -> dict[str, Any]:
    return {
        "cause": called.cause.value,
        "since": _at(called.since),
        "reminded": called.reminded,
        "remind_at": _at(called.remind_at),
        "facts": _facts(called.facts, thresholds),
    }


def event_json(event: MissionEvent, *, thresholds: bool = True) -> dict[str, Any]:
    """Return a row of a mission's timeline, on request without how sure a judge must be."""
    return {
        "mission_id": event.mission_id,
        "kind": event.kind.value,
        "at": _at(event.at),
        "state": event.state.value,
        "cause": event.cause.value,
        "invocation": event.invocation,
        "by": event.by,
        "facts": _facts(event.facts, thresholds),
    }


def _facts(facts: Mapping[str, Any], thresholds: bool) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if thresholds or name != THRESHOLD}


def _at(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _until(lease: Lease | None, now: datetime) -> str | None:
    return _at(lease.until) if lease is not None and lease.holds(now) else None
