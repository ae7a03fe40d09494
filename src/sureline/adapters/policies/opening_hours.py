"""Working hours as a policy writes them: `mon-fri: 08:00-12:00, 13:00-17:00`."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sureline.core.values.hours import DAYS, MINUTES, Window

DAYS_WORD = "days such as mon-fri, sat"
SPANS_WORD = "times such as 08:00-12:00, 13:00-17:00"
_SPAN = re.compile(r"(\d\d):([0-5]\d)-(\d\d):([0-5]\d)(\+1)?\Z", re.ASCII)


def windows_of(week: Mapping[str, str]) -> tuple[Window, ...]:
    """Return the windows of a week that was checked, in their order."""
    return tuple(
        sorted(
            Window(weekday=day, begins=begins, ends=ends)
            for days, times in week.items()
            for day in weekdays(days)
            for begins, ends in spans(times)
        )
    )


def days_text(text: str) -> str:
    """Return the text if it names weekdays. Raises ValueError."""
    weekdays(text)
    return text


def spans_text(text: str) -> str:
    """Return the text if it names times. Raises ValueError."""
    spans(text)
    return text


def weekdays(text: str) -> tuple[int, ...]:
    """Return the weekdays that a text names, 0 for Monday. Raises ValueError."""
    found: list[int] = []
    for part in text.split(","):
        names = [name.strip().lower() for name in part.split("-")]
        if len(names) > 2 or any(name not in DAYS for name in names):
            raise ValueError(f'expected {DAYS_WORD}, found "{text}"')
        first, last = DAYS.index(names[0]), DAYS.index(names[-1])
        if last < first:
            raise ValueError(f'"{part.strip()}" ends before it begins; write two parts')
        found += range(first, last + 1)
    if len(set(found)) < len(found):
        raise ValueError(f'"{text}" names a day twice')
    return tuple(found)


def spans(text: str) -> tuple[tuple[int, int], ...]:
    """Return the spans that a text names, in minutes from midnight. Raises ValueError."""
    return tuple(_span(part.strip()) for part in text.split(","))


def _span(text: str) -> tuple[int, int]:
    found = _SPAN.match(text)
    if found is None:
        raise ValueError(f'expected {SPANS_WORD}, found "{text}"')
    begins = 60 * int(found[1]) + int(found[2])
    ends = 60 * int(found[3]) + int(found[4])
    if begins >= MINUTES or ends > MINUTES:
        raise ValueError(f'"{text}": a day has the times from 00:00 to 24:00')
    if found[5]:
        if ends > begins:
            raise ValueError(f'"{text}" is longer than a day')
        return begins, ends + MINUTES
    if ends <= begins:
        raise ValueError(
            f'"{text}" ends before it begins; where it ends on the day after, write "{text}+1"'
        )
    return begins, ends
