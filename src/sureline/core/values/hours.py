"""When a group of people works."""

from __future__ import annotations

from dataclasses import dataclass

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
"""By weekday, Monday first."""
MINUTES = 24 * 60
"""Of a day on the clock."""


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Window:
    """A span of working time on one weekday, by the clock on the wall.

    `weekday` is 0 for Monday; `begins` and `ends` are minutes from its midnight. `begins` is before
    1440; `ends` is after `begins` and at most 1440 later, so that a night shift ends on the day
    after.
    """

    weekday: int
    begins: int
    ends: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkingHours:
    """A week's working time; `time_zone` is a name of the IANA database."""

    time_zone: str
    windows: tuple[Window, ...]
