"""What the pages show of a mission: limits with what is taken, its reason, its timeline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sureline.application.ports.keys import ApiKey, Role
from sureline.core.mission.timeline import TimelineRow, timeline_of
from sureline.core.values.mission import Cause, EventKind, Mission, MissionEvent, MissionState
from sureline.web.api.mission_access import is_own
from sureline.web.pages.mission_chart import DECISION, decision_of
from sureline.web.pages.mission_words import CAUSES, EVENTS, Said
from sureline.web.pages.templates import span

REVIEWERS = frozenset({Role.REVIEWER, Role.ADMIN})
SUSPEND, RESUME, COMPLETE, FAIL, EXTEND = "suspend", "resume", "complete", "fail", "extend"
CHANGE = "change"
_REOPENED = frozenset({Cause.DEADLINE, Cause.CEILING})
_ASKED = frozenset({Cause.UNSURE, Cause.TO_CONFIRM, Cause.LITTLE_EVIDENCE, Cause.SWITCH})
_STOPS = frozenset({EventKind.SUSPENDED, EventKind.COMPLETED, EventKind.FAILED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """One limit: what is taken and what may be, as texts; `share` in [0, 1], None for no limit."""

    name: str
    taken: str
    most: str | None
    share: float | None

    @property
    def is_over(self) -> bool:
        """Tell whether nothing is left."""
        return self.share is not None and self.share >= 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRow:
    """One row of the timeline; `figures` are what it rests on, `decision_id` the evaluation's."""

    when: str
    said: str
    kind: EventKind
    invocation: int
    is_turn: bool
    by: str | None
    why: str
    figures: Sequence[tuple[str, str]]
    decision_id: str | None


def bars_of(mission: Mission, now: datetime) -> list[Bar]:
    """Return a mission's limits, those of time and invocations first."""
    spent, budget = mission.spent, mission.budget
    end = mission.ended_at or now
    whole = (mission.deadline_at - mission.created_at).total_seconds()
    passed = max(0.0, (end - mission.created_at).total_seconds())
    cost = None if budget.cost is None else f"${budget.cost:,.2f}"
    return [
        _bar("Invocations", mission.invocations, mission.max_invocations),
        Bar(
            name="Time",
            taken=span(end - mission.created_at),
            most=span(mission.deadline_at - mission.created_at),
            share=_share(passed, whole),
        ),
        _bar("Tokens", spent.tokens, budget.tokens),
        Bar(
            name="Money",
            taken=f"${spent.cost:,.2f}",
            most=cost,
            share=_share(spent.cost, budget.cost),
        ),
        _bar("Calls of tools", spent.calls, budget.calls),
    ]


def since_of(mission: Mission, events: Sequence[MissionEvent]) -> datetime:
    """Return since when a mission is in its state; what happened within it changes nothing."""
    if mission.escalation is not None:
        return mission.escalation.since
    since = mission.created_at if mission.ended_at is None else mission.ended_at
    before: MissionState | None = None
    for one in events:
        if one.state is mission.state is not before:
            since = one.at
        before = one.state
    return since


def reason_of(mission: Mission) -> Said:
    """Return why a mission is in its state, in words."""
    return CAUSES[mission.cause]


def tripped(mission: Mission, events: Sequence[MissionEvent]) -> list[tuple[str, str]]:
    """Return the figures that the mission's state rests on."""
    for one in reversed(events):
        if one.kind in _STOPS and (one.state, one.cause) == (mission.state, mission.cause):
            return _figures(one.facts)
    return [] if mission.escalation is None else _figures(mission.escalation.facts)


def acts_of(key: ApiKey, mission: Mission) -> frozenset[str]:
    """Return what a person may do with a mission now; of their own they may only stop it."""
    if key.role not in REVIEWERS:
        return frozenset()
    match mission.state:
        case MissionState.SUSPENDED:
            acts = {RESUME, COMPLETE, FAIL, EXTEND, CHANGE}
        case MissionState.FAILED:
            acts = {EXTEND} if mission.cause in _REOPENED else set()
        case MissionState.COMPLETED:
            acts = set()
        case _:
            acts = {SUSPEND, COMPLETE, FAIL, EXTEND, CHANGE}
    if mission.erased:
        acts -= {CHANGE}
    return frozenset(acts & {SUSPEND} if is_own(key, mission) else acts)


def rows_of(events: Sequence[MissionEvent]) -> list[EventRow]:
    """Return the timeline, the newest first."""
    return [_row(one) for one in reversed(timeline_of(events))]


def seen_mark(mission: Mission) -> str:
    """Return what names the verdict and the words that a person saw, whatever ran meanwhile."""
    last = 0 if mission.last is None else mission.last.invocation
    return f"{mission.state}.{mission.cause}.{mission.revision}.{last}"


def is_asked(mission: Mission) -> bool:
    """Tell whether a person's answer is the label of the evaluation that led to it."""
    return mission.state is MissionState.SUSPENDED and mission.cause in _ASKED


def _row(row: TimelineRow) -> EventRow:
    one, took = row.event, row.took
    return EventRow(
        when=f"{one.at:%Y-%m-%d %H:%M:%S} UTC",
        said=_said(row),
        kind=one.kind,
        invocation=one.invocation,
        is_turn=took is not None,
        by=one.by,
        why=CAUSES[one.cause].why if one.kind in _STOPS else "",
        figures=([] if took is None else [("took", _took(took))]) + _figures(one.facts),
        decision_id=decision_of(one),
    )


def _said(row: TimelineRow) -> str:
    if row.took is not None:
        return f"invocation {row.event.invocation}"
    if row.times > 1:
        return f"a person was reminded {row.times} times, the last time then"
    return EVENTS[row.event.kind]


def _took(length: timedelta) -> str:
    seconds = length.total_seconds()
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 10 else span(length).replace("\N{NO-BREAK SPACE}", " ")


def _bar(name: str, taken: int, most: int | None) -> Bar:
    text = None if most is None else f"{most:,}"
    return Bar(name=name, taken=f"{taken:,}", most=text, share=_share(taken, most))


def _share(taken: float, most: float | None) -> float | None:
    if most is None:
        return None
    return 1.0 if most <= 0 else min(1.0, taken / most)


def _figures(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [
        (name.replace("_", " "), _written(value))
        for name, value in facts.items()
        if name != DECISION and value is not None
    ]


def _written(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
