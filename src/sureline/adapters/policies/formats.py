"""Texts of a policy that must have a form: patterns, dates, locales, time zones."""

from __future__ import annotations

from datetime import date


def pattern(text: str) -> str:
    """Return a regular expression that RE2 can run. Raises ValueError."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(text, options)
    except re2.error as error:
        why = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        raise ValueError(
            f"not a regular expression that sureline can run in linear time: {why}; "
            "look-ahead and back-references are not available"
        ) from error
    return text


def iso_date(text: str) -> str:
    """Return the text if it is a date as YYYY-MM-DD. Raises ValueError."""
    try:
        if date.fromisoformat(text).isoformat() == text:
            return text
    except ValueError:
        pass
    raise ValueError(f'expected a date as YYYY-MM-DD, found "{text}"')


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
    from babel import Locale, UnknownLocaleError

    try:
        Locale.parse(text)
    except (UnknownLocaleError, ValueError) as error:
        raise ValueError(f'expected a locale such as en, de or ja_JP, found "{text}"') from error
    return text


def timezone(text: str) -> str:
    """Return the name of a known time zone. Raises ValueError."""
    from zoneinfo import ZoneInfo

    try:
        ZoneInfo(text)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f'expected a time zone such as Europe/Berlin, found "{text}"') from error
    return text
