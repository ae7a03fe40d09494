"""When a channel may be used, and when a failed delivery is tried again."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.review.pacing import TRIES, Pace, next_try

NOW = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)


@given(
    st.integers(1, 10),
    st.integers(1, 60),
    st.lists(st.integers(0, 30), min_size=1, max_size=60),
)
def test_no_window_holds_more_than_the_burst_and_its_share(
    burst: int, gap: int, waits: list[int]
) -> None:
    """In any stretch of time there are at most burst + stretch / gap uses."""
    pace = Pace(gap=timedelta(seconds=gap), burst=burst)
    now, until, uses = NOW, None, []
    for wait in waits:
        now += timedelta(seconds=wait)
        free = pace.free(until, now)
        assert 0 <= free <= burst
        until = pace.after(until, now, free) if free else until
        uses += [now] * free
    for first in range(len(uses)):
        for last in range(first, len(uses)):
            stretch = (uses[last] - uses[first]) / timedelta(seconds=gap)
            assert last - first + 1 <= burst + stretch + 1e-9


def test_after_a_pause_all_is_free() -> None:
    """A channel that was left alone can be used `burst` times at once."""
    pace = Pace(gap=timedelta(seconds=30), burst=3)
    until = pace.after(None, NOW, 3)
    assert pace.free(until, NOW) == 0
    assert pace.free(until, NOW + timedelta(seconds=30)) == 1
    assert pace.free(until, NOW + timedelta(seconds=90)) == 3
    assert pace.free(None, NOW) == 3


@pytest.mark.parametrize("jitter", [0.0, 0.5, 1.0])
def test_retries_take_about_a_day(jitter: float) -> None:
    """Waits grow to two hours; all of them together are a day, give or take a quarter."""
    waits = [next_try(tries, jitter) for tries in range(1, TRIES)]
    assert next_try(TRIES, jitter) is None
    known = [one for one in waits if one is not None]
    assert len(known) == TRIES - 1
    assert known == sorted(known)
    assert known[0] >= timedelta(seconds=7.5)
    assert timedelta(hours=18) < sum(known, timedelta()) < timedelta(hours=32)


@pytest.mark.parametrize(
    ("asked", "seconds"), [(0, 10), (9, 10), (90, 90), (86_400, 7200), (1e300, 7200)]
)
def test_a_receiver_that_asks_for_more_time_gets_it(asked: float, seconds: float) -> None:
    """Retry-After makes a wait longer, never shorter, and never longer than the longest."""
    assert next_try(1, 0.5, asked) == timedelta(seconds=seconds)
