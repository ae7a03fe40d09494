"""Count a deadline in the working time of those for whom an item waits (R15)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from sureline.core.values.hours import WorkingHours
from sureline.core.values.review import ReviewRules

LONGEST = timedelta(days=366)
"""No item waits longer than this, or than its deadline itself, however few the hours are."""
_SECOND = timedelta(seconds=1)


def deadline_at(rules: ReviewRules, level: int, now: datetime) -> datetime:
    """Return until when an item may wait that comes to this level now.

    It counts in the hours of those whom it waits for there; without any, on the clock.
    """
    hours = rules.hours_at(level)
    return now + rules.deadline if hours is None else after_work(now, rules.deadline, hours)


def after_work(start: datetime, amount: timedelta, hours: WorkingHours) -> datetime:
    """Return when so much working time has passed since `start`, in UTC.

    Never before `start + amount`, and not later than the longer of that and 366 days. It depends
    on nothing but its arguments and the time zone's rules.
    """
    latest = start + max(amount, LONGEST)
    if amount <= timedelta(0):
        return start
    left = amount
    for begins, ends in _spans(start, latest, hours):
        span = ends - begins
        if span >= left:
            return min(begins + left, latest)
        left -= span
    return latest


def _spans(
    start: datetime, latest: datetime, hours: WorkingHours
) -> Iterator[tuple[datetime, datetime]]:
    """Yield working time from `start` on, oldest first, nothing twice."""
    zone = ZoneInfo(hours.time_zone)
    done = start.astimezone(UTC)
    # A window of the day before may reach beyond its midnight.
    day = start.astimezone(zone).date() - timedelta(days=1)
    last = latest.astimezone(zone).date()
    while day <= last:
        for window in sorted(one for one in hours.windows if one.weekday == day.weekday()):
            begins = max(done, _moment(day, window.begins, zone))
            ends = _moment(day, window.ends, zone)
            if ends > begins:
                yield begins, ends
                done = ends
        day += timedelta(days=1)


def _moment(day: date, minutes: int, zone: ZoneInfo) -> datetime:
    """Return when the clock on the wall first shows a time, in UTC.

    A time that the clock leaps over is taken for the moment of the leap. A later time is never an
    earlier moment.
    """
    wall = datetime.combine(day, time()) + timedelta(minutes=minutes)
    early, late = (wall.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if early <= late:
        return early
    before, at = late, early  # the clock leaps between the two (PEP 495)
    while at - before > _SECOND:
        middle = before + (at - before) // 2
        if middle.astimezone(zone).replace(tzinfo=None) < wall:
            before = middle
        else:
            at = middle
    return at.replace(microsecond=0)
