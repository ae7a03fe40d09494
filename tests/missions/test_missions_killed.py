"""A mission that is killed at random points, each time going on in a new process."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sureline.adapters.storage.store import open_store
from sureline.core.values.mission import Cause, EventKind, MissionEvent, MissionState
from sureline.testing import MOMENT
from tests.benchmarked import benchmark
from tests.postgres import Postgres
from tests.postgres import postgres as postgres

rounds = benchmark("mission_rounds")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "ending", "kills"),
    [("sqlite", "budget", 3), ("postgres", "ceiling", 2)],
    ids=["sqlite", "postgres"],
)
def test_nothing_runs_on_and_nothing_is_lost(
    kind: str, ending: str, kills: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Of a mission of 100 turns every promise holds; `benchmarks/mission_kills.py` does more."""
    if kind == "postgres":
        server: Postgres = request.getfixturevalue("postgres")
        store = server.database()
    else:
        store = f"sqlite:///{tmp_path / 'store.db'}"
        open_store(store).close()
    found = rounds.one_round(store, tmp_path, rounds.Ending(ending), kills, random.Random(7))
    assert found.faults == 0, found
    assert found.kills > 0
    assert found.begun >= rounds.TURNS


def events(*kinds: EventKind) -> list[MissionEvent]:
    """Return a timeline, a second between its rows."""
    made: dict[str, Any] = {"workspace": "default", "mission_id": "m1"}
    return [
        MissionEvent(
            **made,
            kind=one,
            at=MOMENT + timedelta(seconds=at),
            state=MissionState.ACTIVE,
            cause=Cause.STARTED,
            invocation=at,
        )
        for at, one in enumerate(kinds)
    ]


BEGUN, ENDED = EventKind.INVOCATION_BEGUN, EventKind.INVOCATION_ENDED


@pytest.mark.parametrize(
    ("kinds", "count"),
    [
        ((BEGUN, ENDED, EventKind.SUSPENDED), 0),
        ((BEGUN, ENDED, EventKind.SUSPENDED, BEGUN), 1),
        ((BEGUN, EventKind.FAILED, BEGUN, BEGUN), 2),
        ((ENDED,) * 9 + (BEGUN,), 1),
    ],
    ids=["none", "after a suspension", "after a failure", "after the deadline"],
)
def test_what_runs_on_is_counted(kinds: tuple[EventKind, ...], count: int) -> None:
    """The count of what began too late sees each of them."""
    assert rounds.after_the_end(events(*kinds), MOMENT + timedelta(seconds=9)) == count


@pytest.mark.parametrize(
    ("kinds", "count"),
    [
        ((BEGUN, ENDED) * 5 + (EventKind.EVALUATED, BEGUN), 0),
        ((BEGUN, ENDED) * 5 + (BEGUN,), 1),
    ],
    ids=["evaluated", "not evaluated"],
)
def test_what_is_unjudged_is_counted(kinds: tuple[EventKind, ...], count: int) -> None:
    """The count of what began while an evaluation was owed sees it."""
    assert rounds.unjudged(events(*kinds)) == count
