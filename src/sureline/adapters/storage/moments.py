"""Moments as whole microseconds since 1970 in UTC: exact, comparable, the same everywhere."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sureline.errors import InvalidInput

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def to_micros(moment: datetime) -> int:
    """Return the microseconds since 1970. Raises InvalidInput for a moment without a zone."""
    if moment.tzinfo is None:
        raise InvalidInput("a moment needs its time zone")
    return (moment - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Return the moment in UTC."""
    return _EPOCH + timedelta(microseconds=micros)


def micros_or_none(moment: datetime | None) -> int | None:
    """Return the microseconds since 1970, or None for no moment."""
    return None if moment is None else to_micros(moment)


def moment_or_none(micros: int | None) -> datetime | None:
    """Return the moment in UTC, or None for none."""
    return None if micros is None else from_micros(micros)
