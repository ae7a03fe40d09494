"""Deadlines and reminders of missions come by themselves, on both job engines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from sureline.application.mission.new_mission import NewMission
from sureline.bootstrap import Plugins, Services, open_services
from sureline.bootstrap.working import working
from sureline.core.values.mission import EventKind, Mission
from sureline.testing import FakeMissionJudge, FixedClock

POLICY = """
version: 1
missions:
  books:
    judge: {model: "two:sceptic-1"}
    timeout_hours: 8
    reminders_hours: [1]
"""
UNSURE = FakeMissionJudge.saying(True, 0.1)


@pytest.fixture(params=["a file", "PostgreSQL"])
def services(
    request: pytest.FixtureRequest, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Services]:
    """Open a store of each kind, whose clock is moved by hand."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    if request.param == "PostgreSQL":
        url = request.getfixturevalue("postgres").database()
    plugins = Plugins(clock=FixedClock(), mission_judge=UNSURE)
    opened = open_services(url, plugins=plugins)
    asyncio.run(opened.policies.introduce(POLICY))
    yield opened
    opened.close()


def advance(services: Services, hours: float) -> None:
    """Let time pass."""
    assert isinstance(services.clock, FixedClock)
    services.clock.advance(timedelta(hours=hours))


def stands(services: Services) -> Mission:
    """Return the mission as it stands."""
    return asyncio.run(services.missions.mission("m1"))


def until(services: Services, state: str, kind: EventKind) -> None:
    """Wait for what the timers do; nobody asks them to."""
    end = time.monotonic() + 20.0
    while True:
        events = asyncio.run(services.missions.events("m1"))
        if stands(services).state == state and events[-1].kind is kind:
            return
        assert time.monotonic() < end, events
        time.sleep(0.05)


@pytest.mark.slow
def test_time_reminds_and_ends(services: Services) -> None:
    """A person is reminded after an hour; after eight the mission fails, with nothing running."""
    missions = services.missions

    async def suspend() -> None:
        await missions.create(NewMission(kind="books", objective="Close them.", id="m1"))
        await missions.suspend("m1", by="kim")

    asyncio.run(suspend())
    with working(services, jobs=True, deliver=True):
        advance(services, 1.01)
        until(services, "suspended", EventKind.REMINDED)
        advance(services, 7)
        until(services, "failed", EventKind.FAILED)
    assert stands(services).cause == "deadline"
