"""A mission's confidence over time as coordinates: where each evaluation and each change stands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sureline.core.values.mission import EventKind, Mission, MissionEvent

ACHIEVED, CONFIDENCE, THRESHOLD = "achieved", "confidence", "threshold"
DECISION, COUNTS = "decision_id", "counts"
"""Facts of an evaluation; one that came late, of an earlier objective, does not count."""

_MARKS = frozenset({EventKind.SUSPENDED, EventKind.RESUMED, EventKind.COMPLETED, EventKind.FAILED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One evaluation that gave a verdict; `x` in [0, 1] is its place in time."""

    x: float
    at: datetime
    invocation: int
    achieved: bool
    confidence: float
    threshold: float | None
    decision_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One change of state; `x` in [0, 1] is its place in time."""

    x: float
    at: datetime
    kind: EventKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """What is drawn from `first` to `last`; `threshold` is the one that counts now."""

    first: datetime
    last: datetime
    points: Sequence[Point]
    marks: Sequence[Mark]
    threshold: float | None


def chart_of(
    mission: Mission, events: Sequence[MissionEvent], *, last: datetime, threshold: float | None
) -> Chart:
    """Return the drawing of a timeline up to `last`; a moment beyond its ends stands at them.

    An evaluation that failed has no confidence, and one of an earlier objective says nothing.
    """
    first = mission.created_at
    length = max((last - first).total_seconds(), 1.0)

    def place(at: datetime) -> float:
        return min(max((at - first).total_seconds() / length, 0.0), 1.0)

    return Chart(
        first=first,
        last=last,
        points=[
            Point(
                x=place(one.at),
                at=one.at,
                invocation=one.invocation,
                achieved=one.facts.get(ACHIEVED) is True,
                confidence=confidence,
                threshold=share_of(one.facts, THRESHOLD),
                decision_id=decision_of(one),
            )
            for one in events
            if one.kind is EventKind.EVALUATED
            and one.facts.get(COUNTS) is not False
            and (confidence := share_of(one.facts, CONFIDENCE)) is not None
        ],
        marks=[
            Mark(x=place(one.at), at=one.at, kind=one.kind) for one in events if one.kind in _MARKS
        ],
        threshold=threshold,
    )


def share_of(facts: Mapping[str, Any], name: str) -> float | None:
    """Return a share in [0, 1] among an event's facts, None where there is none that can be."""
    value = facts.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if math.isfinite(value) and 0.0 <= value <= 1.0 else None


def decision_of(event: MissionEvent) -> str | None:
    """Return the decision that an event's evaluation is in the ledger."""
    found = event.facts.get(DECISION)
    return found if isinstance(found, str) and found else None
