"""Deadlines that count in working time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.review.hours import LONGEST, after_work, deadline_at
from sureline.core.values.hours import MINUTES, Window, WorkingHours
from sureline.core.values.review import ReviewRules

BERLIN = "Europe/Berlin"
ZONES = (BERLIN, "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia", "UTC")


def hours(*spans: tuple[int, int, int], zone: str = BERLIN) -> WorkingHours:
    """Return hours of (weekday, first hour, last hour)."""
    windows = [Window(weekday=d, begins=60 * b, ends=60 * e) for d, b, e in spans]
    return WorkingHours(time_zone=zone, windows=tuple(windows))


def at(text: str, zone: str = BERLIN) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


OFFICE = hours(*((day, 9, 17) for day in range(5)))
LUNCH = hours(*((day, 8, 12) for day in range(5)), *((day, 13, 17) for day in range(5)))
NIGHTS = hours(*((day, 22, 30) for day in range(5)))
SMALL = hours((6, 2, 4))
ALWAYS = hours(*((day, 0, 24) for day in range(7)))
CASES = {
    "within a day": (OFFICE, "2026-03-03T10:00", 120, "2026-03-03T12:00"),
    "to the minute at which work ends": (OFFICE, "2026-03-03T15:00", 120, "2026-03-03T17:00"),
    "over an evening": (OFFICE, "2026-03-03T16:00", 120, "2026-03-04T10:00"),
    "over a weekend": (OFFICE, "2026-03-06T16:30", 60, "2026-03-09T09:30"),
    "brought at night": (OFFICE, "2026-03-07T03:00", 30, "2026-03-09T09:30"),
    "three days of eight hours": (OFFICE, "2026-03-03T09:00", 1440, "2026-03-05T17:00"),
    "over lunch": (LUNCH, "2026-03-03T11:30", 60, "2026-03-03T13:30"),
    "over midnight": (NIGHTS, "2026-03-03T23:00", 120, "2026-03-04T01:00"),
    "after midnight of the night before": (NIGHTS, "2026-03-04T01:00", 60, "2026-03-04T02:00"),
    "on Saturday morning of Friday's shift": (NIGHTS, "2026-03-07T05:00", 120, "2026-03-09T23:00"),
    "the night in which an hour is missing": (
        hours((5, 22, 30)), "2026-03-28T22:00", 420, "2026-03-29T06:00"
    ),
    "the night with an hour twice": (
        hours((5, 22, 30)), "2026-10-24T22:00", 540, "2026-10-25T06:00"
    ),
    "a window that begins in the missing hour": (
        WorkingHours(time_zone=BERLIN, windows=(Window(weekday=6, begins=150, ends=240),)),
        "2026-03-29T00:00", 60, "2026-03-29T04:00",
    ),
    "summer time moves no opening": (OFFICE, "2026-03-27T16:00", 120, "2026-03-30T10:00"),
}  # fmt: skip


@pytest.mark.parametrize(("week", "start", "minutes", "end"), CASES.values(), ids=CASES.keys())
def test_working_time_counts(week: WorkingHours, start: str, minutes: int, end: str) -> None:
    """A deadline passes when so much working time has."""
    assert after_work(at(start), timedelta(minutes=minutes), week) == at(end)


def test_a_day_that_a_place_left_out_has_no_working_time() -> None:
    """Samoa had no 30 December 2011, a Friday; its work is done on Monday."""
    week = hours((4, 9, 17), (0, 9, 17), zone="Pacific/Apia")
    start = at("2011-12-29T12:00", "Pacific/Apia")
    found = after_work(start, timedelta(hours=2), week)
    assert found == at("2012-01-02T11:00", "Pacific/Apia")


def test_nobody_waits_for_ever() -> None:
    """Where working time is so rare that the deadline lies beyond a year, a year it is."""
    week = WorkingHours(time_zone="UTC", windows=(Window(weekday=0, begins=0, ends=1),))
    start = at("2026-03-03T10:00", "UTC")
    assert after_work(start, timedelta(days=365), week) == start + LONGEST


windows = st.builds(
    lambda day, begins, length: Window(weekday=day, begins=begins, ends=begins + length),
    st.integers(0, 6),
    st.integers(0, MINUTES - 1),
    st.integers(1, MINUTES),
)
weeks = st.builds(
    lambda zone, found: WorkingHours(time_zone=zone, windows=tuple(found)),
    st.sampled_from(ZONES),
    st.lists(windows, min_size=1, max_size=6),
)
starts = st.integers(0, 15 * 365 * MINUTES).map(
    lambda minutes: datetime(2011, 12, 1, tzinfo=UTC) + timedelta(minutes=minutes)
)
amounts = st.integers(0, 3 * MINUTES).map(lambda minutes: timedelta(minutes=minutes))


@given(weeks, starts, amounts)
def test_working_time_is_never_sooner_than_time(
    week: WorkingHours, start: datetime, amount: timedelta
) -> None:
    """Nobody has less time than on the clock, and nobody waits beyond a year."""
    assert start + amount <= after_work(start, amount, week) <= start + LONGEST


@given(weeks, starts, amounts, st.integers(0, 10 * MINUTES), amounts)
def test_later_and_longer_is_never_sooner(
    week: WorkingHours, start: datetime, amount: timedelta, later: int, more: timedelta
) -> None:
    """What comes later or may wait longer is not due earlier."""
    due = after_work(start, amount, week)
    assert after_work(start + timedelta(minutes=later), amount, week) >= due
    assert after_work(start, amount + more, week) >= due


@given(weeks, starts, amounts, amounts)
def test_working_time_adds_up(
    week: WorkingHours, start: datetime, first: timedelta, second: timedelta
) -> None:
    """Two spans one after the other are one span, as far as a year goes."""
    middle = after_work(start, first, week)
    whole = after_work(start, first + second, week)
    if whole < start + LONGEST and second:
        assert after_work(middle, second, week) == whole


@given(st.sampled_from(ZONES), starts, amounts)
def test_who_is_always_there_has_the_clock(zone: str, start: datetime, amount: timedelta) -> None:
    """Around the whole week, clock changes included, working time is time."""
    week = WorkingHours(time_zone=zone, windows=ALWAYS.windows)
    assert after_work(start, amount, week) == start + amount


def test_each_step_counts_in_the_hours_of_whom_it_waits_for() -> None:
    """Level 0 is the group's, the next the on-call's, who has the clock; the last holds on."""
    rules = ReviewRules(deadline=timedelta(hours=2), hours=(OFFICE, None))
    now = at("2026-03-06T16:00")
    assert deadline_at(rules, 0, now) == at("2026-03-09T10:00")
    assert deadline_at(rules, 1, now) == deadline_at(rules, 4, now) == now + timedelta(hours=2)
    assert deadline_at(ReviewRules(), 0, now) == now + timedelta(days=1)
