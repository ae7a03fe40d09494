"""The time per item: by the server's clock, never longer for anything that a browser says."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.review.looking import LONGEST, seconds_taken
from sureline.core.values.review import Review
from tests.unit.core.review.test_transitions import HELD, NOW, item

CLAIMED = replace(HELD, claimed_at=NOW)
HOLDER = str(HELD.claimed_by)


@pytest.mark.parametrize(
    ("review", "by", "shown", "in_sight", "expected"),
    [
        (CLAIMED, HOLDER, None, None, 60.0),
        (CLAIMED, HOLDER, None, 20.0, 20.0),
        (CLAIMED, HOLDER, None, 900.0, 60.0),
        (CLAIMED, HOLDER, 30, None, 60.0),
        (CLAIMED, HOLDER, -30, None, 90.0),
        (CLAIMED, "somebody else", None, 20.0, None),
        (item(), "ada", None, 20.0, None),
        (item(), "ada", 15, None, 45.0),
        (item(), "ada", 61, None, None),
        (item(), "ada", -86_400, None, LONGEST.total_seconds()),
    ],
    ids=[
        "since the claim",
        "the page was covered",
        "a browser prolongs nothing",
        "shown again later",
        "shown before the claim",
        "another's claim",
        "never claimed nor shown",
        "shown and not claimed",
        "shown in the future",
        "capped",
    ],
)
def test_the_time_begins_when_it_came_before_them(
    review: Review, by: str, shown: int | None, in_sight: float | None, expected: float | None
) -> None:
    """It begins with the claim or with the page, whichever was first, and it has an end."""
    shown_at = None if shown is None else NOW + timedelta(seconds=shown)
    found = seconds_taken(
        review,
        by,
        NOW + timedelta(minutes=1),
        shown_at=shown_at,
        in_sight=in_sight,
    )
    assert found == expected


@given(
    st.none() | st.floats(0, 1e6), st.none() | st.integers(-100_000, 100_000), st.integers(0, 9999)
)
def test_what_a_browser_says_never_prolongs_it(
    in_sight: float | None, shown: int | None, after: int
) -> None:
    """With and without the browser's word the server's own time is the most that is believed."""
    now = NOW + timedelta(seconds=after)
    shown_at = None if shown is None else NOW + timedelta(seconds=shown)
    alone = seconds_taken(CLAIMED, HOLDER, now, shown_at=shown_at)
    told = seconds_taken(CLAIMED, HOLDER, now, shown_at=shown_at, in_sight=in_sight)
    assert alone is not None
    assert told is not None
    assert 0 <= told <= alone <= LONGEST.total_seconds()
