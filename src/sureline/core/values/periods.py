"""Days and weeks as whole numbers, in UTC, so that counts can be kept by period."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

_EPOCH = date(1970, 1, 1)
_FIRST_MONDAY = 3
"""1970-01-01 was a Thursday; weeks begin on Monday."""


def day_number(moment: datetime) -> int:
    """Return the days since 1970-01-01 of a moment, in UTC."""
    return (moment.astimezone(UTC).date() - _EPOCH).days


def week_number(day: int) -> int:
    """Return the week of a day number; weeks begin on Monday, week 0 holds 1970-01-01."""
    return (day + _FIRST_MONDAY) // 7


def first_day_of(week: int) -> date:
    """Return the Monday of a week number."""
    return _EPOCH + timedelta(days=7 * week - _FIRST_MONDAY)


def date_of(day: int) -> date:
    """Return the date of a day number."""
    return _EPOCH + timedelta(days=day)
