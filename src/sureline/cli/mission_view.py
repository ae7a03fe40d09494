"""How a mission looks on a terminal: how it stands, what was found over time, what happened."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sureline.cli.output import Shaded, print_table, say, visible
from sureline.core.mission.notices import as_text
from sureline.core.mission.timeline import TimelineRow, timeline_of
from sureline.core.values.mission import EventKind, Lease, Mission, MissionEvent, MissionState

_STYLES = {
    MissionState.CREATED: "",
    MissionState.ACTIVE: "cyan",
    MissionState.SUSPENDED: "yellow",
    MissionState.COMPLETED: "green",
    MissionState.FAILED: "red",
}
_BARS = "▁▂▃▄▅▆▇█"
_FAILED = "×"
_MOST_BARS = 60
_MOST_TEXT = 300
_NEAR = timedelta(minutes=10)
"""A deadline that is nearer is told to the second."""
_UNTOLD = frozenset({"decision_id", "source"})


def state_cell(state: MissionState) -> Shaded:
    """Return a state as a cell of a table."""
    return Shaded(state.value, _STYLES[state])


def show_mission(mission: Mission, events: Sequence[MissionEvent], now: datetime) -> None:
    """Write how a mission stands, a line of its confidence, and its timeline."""
    rows = [(name, text) for name, text in _facts(mission, now) if text]
    print_table(f"Mission {mission.id} ({mission.kind})", ("what", "now"), rows)
    _confidence(events)
    _table("Timeline", timeline_of(events))


def events_table(title: str, events: Sequence[MissionEvent]) -> None:
    """Write every event of a timeline, oldest first."""
    _table(title, [TimelineRow(event=one) for one in events])


def _table(title: str, rows: Sequence[TimelineRow]) -> None:
    columns = ("at (UTC)", "what", "invocation", "state", "by", "figures")
    print_table(title, columns, [_row(one) for one in rows])


def _facts(mission: Mission, now: datetime) -> Iterator[tuple[str, Any]]:
    words = "(erased)" if mission.erased else _short(mission.objective)
    yield "objective", words
    for number, one in enumerate(mission.criteria, start=1):
        yield f"criterion {number}", _short(one)
    yield "state", Shaded(f"{mission.state} ({mission.cause})", _STYLES[mission.state])
    yield "waits for", _waits(mission, now)
    yield "invocations", f"{mission.invocations} of {mission.max_invocations}"
    yield "runs", _held(mission.running, f"invocation {mission.invocations}", now)
    yield "is evaluated", _held(mission.evaluating, "an evaluation", now)
    yield "deadline", _deadline(mission, now)
    yield "spent", _spent(mission)
    yield from _last(mission)


def _waits(mission: Mission, now: datetime) -> str | None:
    called = mission.escalation
    if called is not None:
        figures = ", ".join(f"{name} {_fact(value)}" for name, value in called.facts.items())
        told = f"a person, for {_span(now - called.since)}"
        return f"{told} ({figures})" if figures else told
    return "an evaluation" if mission.owed else None


def _fact(value: Any) -> str:
    """Return a fact as a person reads it; earlier ones are kept as texts."""
    text = as_text(value)
    return {"true": "yes", "false": "no"}.get(text.lower(), text)


def _held(lease: Lease | None, what: str, now: datetime) -> str | None:
    if lease is None or not lease.holds(now):
        return None
    until = f"{lease.until.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"
    return f"{what}, by {visible(lease.owner)}, until {until} unless it is heard of"


def _deadline(mission: Mission, now: datetime) -> str:
    at = f"{mission.deadline_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    if mission.state.is_over:
        return at
    left = mission.deadline_at - now
    if left <= timedelta(0):
        return f"{at} (passed)"
    if left >= _NEAR:
        return f"{at} (in {_span(left)})"
    minutes, seconds = divmod(int(left.total_seconds()), 60)
    near = f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
    return f"{mission.deadline_at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC (in {near})"


def _spent(mission: Mission) -> str:
    spent, budget = mission.spent, mission.budget
    parts = [
        f"{spent.tokens:,}{_of(budget.tokens)} tokens",
        f"{spent.cost:,.2f}{_of(budget.cost)} US dollars",
        f"{spent.calls:,}{_of(budget.calls)} calls",
    ]
    if spent.unknown:
        parts.append(f"{spent.unknown} invocations did not say what they took")
    return ", ".join(parts)


def _of(limit: float | None) -> str:
    return "" if limit is None else f" of {limit:,}"


def _last(mission: Mission) -> Iterator[tuple[str, str | None]]:
    last = mission.last
    if last is None:
        return
    if last.achieved is None or last.confidence is None:
        found = f"failed ({last.fault})"
    else:
        found = f"{'achieved' if last.achieved else 'not achieved'}, {last.confidence:.2f} sure"
    yield "last evaluation", f"{found}, after invocation {last.invocation}"
    yield "its reasons", _short(last.reasoning or "")
    yield "progress", _short(last.progress or "")


def _confidence(events: Sequence[MissionEvent]) -> None:
    """Write a bar for each evaluation: how high is how sure, the colour is what it found."""
    kinds = {EventKind.EVALUATED, EventKind.EVALUATION_FAILED}
    found = [one for one in events if one.kind in kinds][-_MOST_BARS:]
    if not found:
        return
    latest = found[-1].facts.get("threshold")
    note = f" (threshold now {latest:.2f})" if isinstance(latest, (int, float)) else ""
    legend = "achieved: upper row, not achieved: lower row, ×: failed"
    if not sys.stdout.isatty():
        say(f"confidence{note}, {legend}")
        say("  " + "".join(_bar(one) if one.facts.get("achieved") else " " for one in found))
        say("  " + "".join(" " if one.facts.get("achieved") else _bar(one) for one in found))
        return
    from rich.console import Console
    from rich.text import Text

    drawn = Text(f"confidence{note} ")
    for one in found:
        drawn.append(_bar(one), style=_shade(one))
    Console().print(drawn.append("  green: achieved, yellow: not, red ×: failed"))


def _bar(event: MissionEvent) -> str:
    confidence = event.facts.get("confidence")
    if not isinstance(confidence, (int, float)):
        return _FAILED
    return _BARS[min(int(confidence * len(_BARS)), len(_BARS) - 1)]


def _shade(event: MissionEvent) -> str:
    if event.kind is EventKind.EVALUATION_FAILED:
        return "red"
    return "green" if event.facts.get("achieved") else "yellow"


def _row(row: TimelineRow) -> tuple[Any, ...]:
    one = row.event
    what = one.kind.value.replace("_", " ") if row.took is None else "invocation"
    if row.times > 1:
        what = f"{what} {row.times} times"
    if one.kind in {EventKind.SUSPENDED, EventKind.FAILED, EventKind.COMPLETED}:
        what = f"{what}: {one.cause.value.replace('_', ' ')}"
    return (
        f"{one.at.astimezone(UTC):%Y-%m-%d %H:%M:%S}",
        what,
        one.invocation,
        state_cell(one.state),
        one.by,
        ", ".join(part for part in (_took(row.took), _figures(one.facts)) if part),
    )


def _took(length: timedelta | None) -> str:
    if length is None:
        return ""
    seconds = length.total_seconds()
    if seconds < 1:
        return f"took {1000 * seconds:.0f} ms"
    return f"took {seconds:.1f} s" if seconds < 10 else f"took {_span(length)}"


def _figures(facts: Mapping[str, Any]) -> str:
    told = ((name, value) for name, value in facts.items() if name not in _UNTOLD)
    return ", ".join(f"{name} {_figure(value)}" for name, value in told if value is not None)


def _figure(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _short(text: str) -> str:
    flat = visible(" ".join(text.split()))
    return flat if len(flat) <= _MOST_TEXT else f"{flat[: _MOST_TEXT - 3]}..."


def _span(length: timedelta) -> str:
    seconds = max(0, int(length.total_seconds()))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"
