"""When more comes than people can decide, and what would help."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.review.flow import quantile, wait_class
from sureline.core.review.overload import Lever, Load, overload_of
from sureline.core.values.queue_flow import WAITS


def load(**changes: Any) -> Load:
    given: dict[str, Any] = {
        "days": 7.0,
        "arrived": 140,
        "audits": 0,
        "decided": 140,
        "expired": 0,
        "open": 20,
        "oldest": timedelta(hours=3),
        "patience": timedelta(days=2),
        "is_routed": False,
    }
    return Load(**{**given, **changes})


CALM = {
    "as much is decided as comes": load(),
    "a little more comes": load(arrived=150),
    "much more comes, but what waits is done in time": load(arrived=200, open=30),
    "nothing comes": load(arrived=0, decided=0, open=0),
    "the first hour, and nobody has decided yet": load(days=1 / 24, arrived=30, decided=0, open=30),
}


@pytest.mark.parametrize("of", CALM.values(), ids=CALM.keys())
def test_a_queue_that_keeps_up_warns_of_nothing(of: Load) -> None:
    """A warning is for what a person must act on."""
    assert overload_of(of) is None


HELPED = {
    "people": (load(arrived=200, open=60), [Lever.PEOPLE]),
    "nobody decides": (
        load(decided=0, open=140, oldest=timedelta(days=1.5)),
        [Lever.PEOPLE],
    ),
    "one expired": (load(expired=1), [Lever.PEOPLE]),
    "nobody decides what may act alone": (
        load(decided=0, open=140, expired=3, is_routed=True),
        [Lever.PEOPLE],
    ),
    "audits alone are too much": (
        load(arrived=200, audits=80, open=60),
        [Lever.AUDIT_RATE, Lever.PEOPLE],
    ),
    "audits are not enough": (
        load(arrived=200, audits=10, open=60),
        [Lever.PEOPLE, Lever.AUDIT_RATE],
    ),
    "a slice that may act alone": (
        load(arrived=200, open=60, is_routed=True),
        [Lever.PEOPLE, Lever.THRESHOLD],
    ),
    "a slice that would need three times the people": (
        load(arrived=420, open=300, is_routed=True),
        [Lever.THRESHOLD, Lever.PEOPLE],
    ),
}


@pytest.mark.parametrize(("of", "levers"), HELPED.values(), ids=HELPED.keys())
def test_too_much_names_the_lever(of: Load, levers: list[Lever]) -> None:
    """The nearest comes first; where outputs never act alone no threshold is offered."""
    found = overload_of(of)
    assert found is not None
    assert [lever for lever, _ in found.levers] == levers
    assert found.lever is levers[0]


@given(st.integers(0, 500), st.integers(0, 500), st.integers(0, 500), st.booleans())
def test_more_work_never_ends_a_warning(
    arrived: int, decided: int, more: int, is_routed: bool
) -> None:
    """If so many are too much, more of them are as well."""
    before = load(arrived=arrived, decided=decided, open=arrived, is_routed=is_routed)
    after = load(arrived=arrived + more, decided=decided, open=arrived + more, is_routed=is_routed)
    if overload_of(before) is not None:
        assert overload_of(after) is not None


def test_what_waits_in_a_week_goes_on_like_this() -> None:
    """The backlog grows by what comes beyond what goes, and is never less than nothing."""
    assert load(arrived=210).backlog_in(7) == pytest.approx(90)
    assert load(arrived=0).backlog_in(7) == 0.0


@given(st.lists(st.integers(1, 31_000_000), min_size=1, max_size=50), st.floats(0.01, 1.0))
def test_a_quantile_is_at_most_a_class_too_high(waits: list[int], share: float) -> None:
    """At least so many waited no longer, and the class below has fewer."""
    counts: dict[int, int] = {}
    for one in waits:
        place = wait_class(timedelta(seconds=one))
        counts[place] = counts.get(place, 0) + 1
    found = quantile(counts, share)
    assert found is not None
    assert sum(one <= found for one in waits) >= share * len(waits) - 1e-9
    assert found <= max(1, max(waits)) * 1.5
    assert quantile({}, share) is None


def test_the_classes_reach_a_year() -> None:
    """A wait of more than that is in the last."""
    assert WAITS[-1] > 365 * 86_400
    assert wait_class(timedelta(days=5000)) == len(WAITS) - 1
