"""A clock is right soon, whatever is done to the machine's, and never runs backwards."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.adapters.clock import SystemClock
from sureline.adapters.steady_time import seconds_since_boot, steady

STEPS = st.lists(st.tuples(st.floats(0, 1e4), st.floats(-1e4, 1e4)), min_size=1, max_size=20)
"""How long nobody asked, and by how much the machine's clock was then set."""


class Machine:
    """A machine whose clock people set."""

    def __init__(self) -> None:
        self.wall, self.since_boot = 1_800_000_000.0, 100.0

    def passes(self, seconds: float, *, step: float = 0.0) -> None:
        self.since_boot += seconds
        self.wall += seconds + step

    @property
    def clock(self) -> SystemClock:
        return SystemClock(wall=lambda: self.wall, elapsed=lambda: self.since_boot)


@given(STEPS)
def test_time_never_runs_backwards_and_is_never_slower_than_half(
    steps: list[tuple[float, float]],
) -> None:
    """Whatever steps the machine's clock makes."""
    machine = Machine()
    clock = machine.clock
    before = clock.now()
    for seconds, step in steps:
        machine.passes(seconds, step=step)
        now = clock.now()
        assert now - before >= timedelta(seconds=seconds / 2 - 1e-3)
        before = now


@pytest.mark.parametrize("back", [1.0, 300.0, 86_400.0])
def test_a_step_back_is_made_up_in_twice_its_length(back: float) -> None:
    """Until then time goes on at half its speed, and afterwards it is the machine's."""
    machine = Machine()
    clock = machine.clock
    machine.passes(0, step=-back)
    before = clock.now()
    machine.passes(back)
    assert (clock.now() - before).total_seconds() == pytest.approx(back / 2)
    machine.passes(back + 0.01)
    assert clock.now() == datetime.fromtimestamp(machine.wall, UTC)


def test_a_step_forward_is_believed_at_once() -> None:
    """The machine slept, or was behind: what is due is due."""
    machine = Machine()
    clock = machine.clock
    machine.passes(1, step=3600)
    assert clock.now() == datetime.fromtimestamp(machine.wall, UTC)


@given(st.floats(-1e9, 1e9), st.floats(0, 1e6), st.floats(-1e9, 1e9))
def test_where_nothing_is_wrong_the_truth_is_told(said: float, elapsed: float, off: float) -> None:
    """Never less than the truth; more only where something later was said before."""
    told = steady(said, elapsed, said + elapsed + off)
    assert told >= said + elapsed + off
    if off >= 0:
        assert told == said + elapsed + off


def test_this_machine_s_clock_is_meant() -> None:
    """It tells UTC, and seconds that go on."""
    clock = SystemClock()
    assert clock.now().tzinfo is UTC
    assert clock.monotonic() <= clock.monotonic()
    assert seconds_since_boot() <= seconds_since_boot()
