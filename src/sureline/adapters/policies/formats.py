"""Texts of a policy that must have a form: patterns, dates, locales, time zones."""

from __future__ import annotations

from datetime import date

from sureline.core.checks.numbers import number_format
from sureline.core.checks.paths import parse_path
from sureline.core.checks.patterns import compile_pattern
from sureline.errors import PolicyError


def pattern(text: str) -> str:
    """Return a regular expression that runs in linear time. Raises ValueError."""
    try:
        compile_pattern(text)
    except PolicyError as error:
        said = error.message.removeprefix("pattern: ")
        raise ValueError(f"not a regular expression that runs in linear time: {said}") from error
    return text


def field_path(text: str) -> str:
    """Return a path into an output. Raises ValueError."""
    try:
        parse_path(text)
    except PolicyError as error:
        raise ValueError(
            f'expected a field of the output such as vendor.name or lines[0].amount, found "{text}"'
        ) from error
    return text


def iso_date(text: str) -> str:
    """Return the text if it is a date as YYYY-MM-DD. Raises ValueError."""
    refused = f'expected a date as YYYY-MM-DD, found "{text}"'
    try:
        read = date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(refused) from None
    if read != text:  # ISO 8601 has other forms, such as 20260131
        raise ValueError(refused)
    return text


def day(text: str) -> str:
    """Return `today` or a date as YYYY-MM-DD. Raises ValueError."""
    if text == "today":
        return text
    try:
        return iso_date(text)
    except ValueError as error:
        raise ValueError(f'expected today or a date as YYYY-MM-DD, found "{text}"') from error


def locale(text: str) -> str:
    """Return a locale that the locale data knows. Raises ValueError."""
    try:
        number_format(text)
    except PolicyError as error:
        raise ValueError(f'expected a locale such as en, de or ja_JP, found "{text}"') from error
    return text


def timezone(text: str) -> str:
    """Return the name of a known time zone. Raises ValueError."""
    from zoneinfo import ZoneInfo, available_timezones

    try:
        ZoneInfo(text)
    except (KeyError, ValueError, OSError) as error:
        near = next((one for one in available_timezones() if one.lower() == text.lower()), None)
        meant = f'; write "{near}"' if near else ""
        raise ValueError(
            f'expected a time zone such as Europe/Berlin, found "{text}"{meant}'
        ) from error
    return text
