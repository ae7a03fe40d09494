"""A model that is out is left alone, and tried again by itself."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.adapters.models.breaker import Breaker
from sureline.errors import ModelFailed
from sureline.testing import FixedClock


def breaker_with(clock: FixedClock, failures: int = 2) -> Breaker:
    return Breaker(failures=failures, rest_seconds=15.0, monotonic=clock.monotonic)


def fail(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        breaker.enter()
        breaker.failed()


def rests(breaker: Breaker) -> bool:
    try:
        breaker.check()
    except ModelFailed as error:
        return error.reason == "resting"
    return False


def test_so_many_faults_in_a_row_put_a_model_to_rest(clock: FixedClock) -> None:
    """A success in between begins the count anew."""
    breaker = breaker_with(clock)
    fail(breaker, 1)
    breaker.enter()
    breaker.succeeded()
    fail(breaker, 1)
    assert not rests(breaker)
    fail(breaker, 1)
    assert rests(breaker)


def test_after_the_rest_one_call_probes(clock: FixedClock) -> None:
    """While it is under way the others still rest; its success lets all through."""
    breaker = breaker_with(clock)
    fail(breaker, 2)
    clock.advance(timedelta(seconds=14.9))
    assert rests(breaker)
    clock.advance(timedelta(seconds=0.2))
    breaker.enter()
    with pytest.raises(ModelFailed):
        breaker.enter()
    breaker.succeeded()
    breaker.enter()
    breaker.enter()


def test_a_probe_that_fails_begins_the_rest_anew(clock: FixedClock) -> None:
    """The next probe comes a whole rest later."""
    breaker = breaker_with(clock)
    fail(breaker, 2)
    clock.advance(timedelta(seconds=16))
    fail(breaker, 1)
    clock.advance(timedelta(seconds=14))
    assert rests(breaker)
    clock.advance(timedelta(seconds=2))
    breaker.enter()


def test_a_probe_that_is_given_up_makes_room_for_the_next(clock: FixedClock) -> None:
    """A caller that goes away does not leave a model resting for ever."""
    breaker = breaker_with(clock)
    fail(breaker, 2)
    clock.advance(timedelta(seconds=16))
    breaker.enter()
    breaker.abandoned()
    breaker.enter()


@given(st.lists(st.sampled_from(["ok", "fault", "given up", "wait"]), max_size=60))
def test_no_history_leaves_a_model_resting_for_ever(history: list[str]) -> None:
    """Whatever happened, a whole rest later a call goes through."""
    clock = FixedClock()
    breaker = breaker_with(clock)
    ends = {"ok": breaker.succeeded, "fault": breaker.failed, "given up": breaker.abandoned}
    for event in history:
        if event == "wait":
            clock.advance(timedelta(seconds=7))
        elif not rests(breaker):
            breaker.enter()
            ends[event]()
    clock.advance(timedelta(seconds=15))
    breaker.enter()
