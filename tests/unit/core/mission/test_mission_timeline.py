"""A mission's timeline as rows: whole invocations are one row, all else keeps its own."""

from __future__ import annotations

from datetime import timedelta

import pytest

from sureline.core.mission.timeline import timeline_of
from sureline.core.values.mission import Cause, EventKind, MissionEvent, MissionState
from sureline.testing import MOMENT

BEGUN, ENDED, LOST = (
    EventKind.INVOCATION_BEGUN,
    EventKind.INVOCATION_ENDED,
    EventKind.INVOCATION_LOST,
)
Told = tuple[EventKind, int, int]


def event(kind: EventKind, invocation: int, seconds: int) -> MissionEvent:
    """Make an event so many seconds after the first."""
    return MissionEvent(
        workspace="default",
        mission_id="m",
        kind=kind,
        at=MOMENT + timedelta(seconds=seconds),
        state=MissionState.ACTIVE,
        cause=Cause.STARTED,
        invocation=invocation,
    )


def test_reminders_in_a_row_are_one() -> None:
    """They are counted, and told at the last; what comes between parts them."""
    kinds = [EventKind.REMINDED] * 3 + [EventKind.EXTENDED, EventKind.REMINDED]
    found = timeline_of([event(one, 1, at) for at, one in enumerate(kinds)])
    told = [(row.times, (row.event.at - MOMENT).seconds) for row in found]
    assert told == [(3, 2), (1, 3), (1, 4)]


@pytest.mark.parametrize(
    ("given", "rows"),
    [
        pytest.param([(BEGUN, 1, 0), (ENDED, 1, 12)], [(ENDED, 1, 12)], id="whole"),
        pytest.param([(BEGUN, 1, 5), (ENDED, 1, 0)], [(ENDED, 1, 0)], id="clock set back"),
        pytest.param(
            [(BEGUN, 1, 0), (EventKind.TRIGGER_SKIPPED, 1, 3), (ENDED, 1, 9)],
            [(EventKind.TRIGGER_SKIPPED, 1, None), (ENDED, 1, 9)],
            id="something between",
        ),
        pytest.param(
            [(BEGUN, 1, 0), (LOST, 1, 60), (BEGUN, 2, 61)],
            [(BEGUN, 1, None), (LOST, 1, None), (BEGUN, 2, None)],
            id="lost, and one that runs",
        ),
        pytest.param([(ENDED, 7, 0)], [(ENDED, 7, None)], id="its beginning is cut off"),
    ],
)
def test_a_whole_invocation_is_one_row(
    given: list[Told], rows: list[tuple[EventKind, int, int | None]]
) -> None:
    """Begun and ended are one row where it ended; nothing else is left out or moved."""
    found = timeline_of([event(*one) for one in given])
    told = [
        (row.event.kind, row.event.invocation, None if row.took is None else row.took.seconds)
        for row in found
    ]
    assert told == rows
