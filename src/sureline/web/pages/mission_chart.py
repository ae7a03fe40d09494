"""A mission's confidence by invocation as coordinates: where evaluations and changes stand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from typing import Any

from sureline.core.values.mission import EventKind, Mission, MissionEvent

ACHIEVED, CONFIDENCE, THRESHOLD = "achieved", "confidence", "threshold"
DECISION, COUNTS = "decision_id", "counts"
"""Facts of an evaluation; one that came late, of an earlier objective, does not count."""

_MARKS = frozenset({EventKind.SUSPENDED, EventKind.RESUMED, EventKind.COMPLETED, EventKind.FAILED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One evaluation that gave a verdict; `x` in [0, 1] is where its invocation stands."""

    x: float
    at: datetime
    invocation: int
    achieved: bool
    confidence: float
    threshold: float | None
    decision_id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One change of state; `x` in [0, 1] is where its invocation stands."""

    x: float
    invocation: int
    kind: EventKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """What is drawn from invocation 0 to `last`; `threshold` is the one that counts now.

    `ticks` are the invocations that the axis names, each with its place in [0, 1].
    """

    last: int
    ticks: Sequence[tuple[float, int]]
    points: Sequence[Point]
    marks: Sequence[Mark]
    threshold: float | None


def chart_of(mission: Mission, events: Sequence[MissionEvent], *, threshold: float | None) -> Chart:
    """Return the drawing of a timeline, from 0 to the invocations that were begun.

    An evaluation that failed has no confidence, and one of an earlier objective says nothing.
    """
    last = max(1, mission.invocations, *(one.invocation for one in events))
    return Chart(
        last=last,
        ticks=[(at / last, at) for at in ticks_to(last)],
        points=[
            Point(
                x=one.invocation / last,
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
            Mark(x=one.invocation / last, invocation=one.invocation, kind=one.kind)
            for one in events
            if one.kind in _MARKS
        ],
        threshold=threshold,
    )


def ticks_to(last: int) -> list[int]:
    """Return what an axis from 0 to `last` >= 1 names: round numbers, at most 11, and its end."""
    step = next(
        size * 10**power for power in count() for size in (1, 2, 5) if last <= 10 * size * 10**power
    )
    # A round number that is too near the end would be written over it.
    return [*(at for at in range(0, last, step) if last - at > 0.6 * step), last]


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
