"""A moment as a person writes it: a day, or a time with or without its zone."""

from __future__ import annotations

from datetime import UTC, datetime

from sureline.errors import InvalidInput


def moment_of(text: str, *, field: str) -> datetime:
    """Read a day or a moment (ISO 8601) and return it in UTC; without a zone it is UTC.

    Raises InvalidInput naming the `field`.
    """
    try:
        found = datetime.fromisoformat(text)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidInput(
            f"expected a day such as 2026-03-01, or a moment, got {text!r}", field=field
        ) from None
