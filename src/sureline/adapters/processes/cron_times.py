"""Read a line of cron: minute, hour, day, month and weekday."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from sureline.application.mission.triggers import LocalTimes
from sureline.errors import InvalidInput, MissingExtra

FIELDS = "five fields such as 40 1 * * * (minute, hour, day, month, weekday)"


def cron_times(line: str, zone: ZoneInfo) -> LocalTimes:
    """Return the times of a line. Raises InvalidInput, MissingExtra.

    Only the pattern of the line is croniter's; what an hour that comes twice means is said in
    LocalTimes.
    """
    try:
        from croniter import croniter
    except ImportError as error:
        raise MissingExtra(
            "times of a clock (cron) need an extra: pip install 'sureline[cron]'"
        ) from error
    fields = line.split()
    if len(fields) != len(FIELDS_NAMES):
        raise InvalidInput(f"expected {FIELDS}, found {line!r}")
    try:
        croniter(line, datetime(2026, 1, 1)).get_next(datetime)  # noqa: DTZ001 - times without a zone
    except ValueError as error:
        raise InvalidInput(f"expected {FIELDS}: {error}") from None

    def following(local: datetime) -> datetime:
        found: datetime = croniter(line, local).get_next(datetime)
        return found

    return LocalTimes(following=following, zone=zone, every_hour=fields[1] == "*")


FIELDS_NAMES = ("minute", "hour", "day", "month", "weekday")
