"""The report that pages show: one for all, kept for a while, never waited for long."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from sureline.errors import PolicyError
from sureline.testing import FixedClock
from sureline.web.faults import Overloaded
from sureline.web.kept_report import KeptReport


class Drawing:
    """Draws reports up: numbers, each when `ready` is set."""

    def __init__(self) -> None:
        self.made = 0
        self.ready = asyncio.Event()
        self.ready.set()
        self.fault: Exception | None = None

    async def __call__(self) -> Any:
        self.made += 1
        number = self.made
        await self.ready.wait()
        if self.fault is not None:
            raise self.fault
        return number


async def test_a_report_is_drawn_up_once_a_minute_for_all() -> None:
    """Visits of one minute share a report; so do those that come while it is drawn up."""
    clock, draw = FixedClock(), Drawing()
    kept = KeptReport(clock)
    found = await asyncio.gather(*(kept.latest(draw, 1) for _ in range(5)))
    assert found == [1] * 5
    clock.advance(timedelta(seconds=59))
    assert await kept.latest(draw, 1) == 1
    clock.advance(timedelta(seconds=1))
    assert await kept.latest(draw, 1) == 2


async def test_nobody_waits_for_long_and_the_last_one_serves_meanwhile() -> None:
    """Without any report a page says so; with an older one it shows that."""
    clock, draw = FixedClock(), Drawing()
    kept = KeptReport(clock, patience=0.01)
    draw.ready.clear()
    assert await kept.latest(draw, 1) is None
    draw.ready.set()
    await asyncio.sleep(0)
    assert await kept.latest(draw, 1) == 1
    draw.ready.clear()
    clock.advance(timedelta(minutes=2))
    assert await kept.latest(draw, 1) == 1
    draw.ready.set()
    assert await kept.latest(draw, 1) == 2


async def test_what_took_long_is_kept_for_longer() -> None:
    """A report of ten seconds is kept for 200, so that it costs 5 % of a core at most."""
    clock, draw = FixedClock(), Drawing()
    kept = KeptReport(clock, patience=0.01)
    draw.ready.clear()
    await kept.latest(draw, 1)
    clock.advance(timedelta(seconds=10))
    draw.ready.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert await kept.latest(draw, 1) == 1
    clock.advance(timedelta(seconds=199))
    assert await kept.latest(draw, 1) == 1
    clock.advance(timedelta(seconds=1))
    assert await kept.latest(draw, 1) == 2


async def test_an_activation_ends_a_report() -> None:
    """What another policy or calibration gave is not shown any more, even if it comes late."""
    draw = Drawing()
    kept = KeptReport(FixedClock(), patience=0.01)
    draw.ready.clear()
    assert await kept.latest(draw, 1) is None
    assert await kept.latest(draw, 2) is None
    draw.ready.set()
    await asyncio.sleep(0.0)
    assert await kept.latest(draw, 2) in {None, 2}
    assert await kept.latest(draw, 2) == 2


async def test_what_is_wrong_is_told_and_being_busy_is_not() -> None:
    """A policy that cannot be read is the page's news; a busy server says nothing yet."""
    draw = Drawing()
    kept = KeptReport(FixedClock())
    draw.fault = PolicyError("broken")
    with pytest.raises(PolicyError):
        await kept.latest(draw, 1)
    draw.fault = Overloaded()
    assert await kept.latest(draw, 1) is None
    draw.fault = None
    assert await kept.latest(draw, 1) == 3
