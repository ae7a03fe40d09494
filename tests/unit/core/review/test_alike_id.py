"""The id of what is planted looks like its neighbours'."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from sureline.core.review.alike_id import alike_ids, opened_id
from tests.unit.core.review.test_spoiling import pick_of

OURS = "018f9a3c-1111-7abc-8def-0123456789ab"
SPARSE = [f"{48_000 + 37 * one}" for one in range(60)]


@pytest.mark.parametrize(
    ("ids", "form"),
    [
        ([f"inv-{one}" for one in range(1, 131)], r"inv-1\d\d"),
        ([f"d{one:04}" for one in range(1, 131)], r"d0\d\d\d"),
        (SPARSE, r"4\d{4}|50\d{3}"),
        ([f"2026/{one}/A" for one in range(10, 90)], r"2026/\d+/A"),
        (["ord_a8F3kk", "ord_b9K2mm", "ord_Z8x1qq"], r"ord_[a-zA-Z]\d[a-zA-Z]\d[a-z]{2}"),
        (["3fa85f64", "9b1deb4d", "110ec58a"], r"[0-9a-f]{8}"),
    ],
    ids=["series", "padded", "gaps", "suffix", "random", "hex"],
)
def test_it_has_the_form_of_the_others(ids: list[str], form: str) -> None:
    """Prefix, width and kinds of characters are those of the slice; none is there already."""
    found = alike_ids(ids[1], ids, pick_of("a"))
    assert found
    assert all(re.fullmatch(form, one) for one in found[:10])
    assert not set(found) & set(ids)


def test_left_out_numbers_come_first() -> None:
    """Where numbers are left out, one near the neighbour's is taken: the series goes on above."""
    found = alike_ids(SPARSE[30], SPARSE, pick_of("a"))
    assert all(abs(int(one) - int(SPARSE[30])) <= 20 for one in found[:10])


def test_beyond_a_full_series_some_are_left_for_what_comes() -> None:
    """In a series without gaps the next numbers are left to real submissions."""
    ids = [f"inv-{one}" for one in range(1, 131)]
    for seed in range(30):
        first = alike_ids("inv-7", ids, pick_of(f"{seed}"))[0]
        assert 140 <= int(first.removeprefix("inv-")) <= 180


def test_an_id_of_our_own_is_another_of_ours() -> None:
    """Beside one that sureline made an id is made as ever, and says when its item was opened."""
    assert alike_ids(OURS, [OURS], pick_of("a")) == []
    at = datetime(2026, 3, 14, 12, tzinfo=UTC)
    made = opened_id(OURS, at)
    assert made[13:] == OURS[13:]
    assert int(made[:13].replace("-", ""), 16) == int(at.timestamp() * 1000)
    assert opened_id("mine", at) == "mine"


def test_a_huge_series_takes_no_time() -> None:
    """Numbers far apart are not counted through."""
    assert alike_ids("9", ["1", "9", "999999999"], pick_of("a"))
