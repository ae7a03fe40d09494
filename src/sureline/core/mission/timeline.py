"""A timeline as people read it: a whole invocation is one row, and so are reminders in a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from sureline.core.values.mission import EventKind, MissionEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """One event; `took` says that it is a whole invocation, told where it ended.

    `times` counts reminders in a row, told at the last of them.
    """

    event: MissionEvent
    took: timedelta | None = None
    times: int = 1


def timeline_of(events: Sequence[MissionEvent]) -> list[TimelineRow]:
    """Return the rows of events that are given the oldest first, in the same order.

    A beginning whose end is not among them (it runs, or was lost) stays a row of its own, as does
    an end whose beginning is not.
    """
    begun = {one.invocation: one.at for one in events if one.kind is EventKind.INVOCATION_BEGUN}
    ended = {one.invocation for one in events if one.kind is EventKind.INVOCATION_ENDED}
    rows: list[TimelineRow] = []
    for one in events:
        if one.kind is EventKind.INVOCATION_BEGUN and one.invocation in ended:
            continue
        if rows and one.kind is rows[-1].event.kind is EventKind.REMINDED:
            rows[-1] = TimelineRow(event=one, times=rows[-1].times + 1)
            continue
        since = begun.get(one.invocation) if one.kind is EventKind.INVOCATION_ENDED else None
        # A clock that was set back makes no invocation shorter than nothing.
        took = None if since is None else max(one.at - since, timedelta(0))
        rows.append(TimelineRow(event=one, took=took))
    return rows
