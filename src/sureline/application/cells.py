"""Read the cells of somebody's own log: numbers, labels and moments, never guessed at."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from sureline.core.values.outcome import Action
from sureline.errors import InvalidInput

LABELS = {
    **dict.fromkeys(("1", "1.0", "true", "yes", "correct", "approve", "approved"), Action.APPROVE),
    **dict.fromkeys(("0", "0.0", "false", "no", "wrong", "reject", "rejected"), Action.REJECT),
}
"""What a label may be called."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_LONGEST = 40


def is_empty(value: Any) -> bool:
    """Tell whether a cell says nothing."""
    return value is None or (isinstance(value, str) and not value.strip())


def read_label(value: Any, column: str) -> Action | None:
    """Return what was said of an output, None for an empty cell. Raises InvalidInput."""
    if is_empty(value):
        return None
    action = LABELS.get(str(value).strip().lower())
    if action is None:
        raise InvalidInput(
            f"expected one of {', '.join(LABELS)}, got {_shown(value)}", field=f"column {column!r}"
        )
    return action


def read_share(value: Any, column: str) -> float | None:
    """Return a number in [0, 1], None for an empty cell. Raises InvalidInput."""
    if is_empty(value):
        return None
    if isinstance(value, str):
        number = float(value) if _NUMBER.fullmatch(value.strip()) else math.nan
    elif isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        number = float(value)
    else:
        number = math.nan
    if not 0.0 <= number <= 1.0:
        raise InvalidInput(
            f"expected a number from 0 to 1, got {_shown(value)}", field=f"column {column!r}"
        )
    return number


def read_moment(value: Any, column: str, now: datetime) -> datetime:
    """Return a moment that is not after `now`, in UTC; one without a zone is taken as UTC.

    Raises InvalidInput for anything that is not ISO 8601 with year, month and day.
    """
    moment = _moment(value)
    if moment is None:
        raise InvalidInput(
            f"expected a moment such as 2026-01-31T09:30:00Z, got {_shown(value)}",
            field=f"column {column!r}",
        )
    if moment > now:
        raise InvalidInput(
            f"expected a moment that has passed, got {_shown(value)}", field=f"column {column!r}"
        )
    return moment


def _moment(value: Any) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    elif isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=UTC)
    if not isinstance(value, datetime):
        return None
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError:  # a zone that leads before year 1 or beyond year 9999
        return None


def _shown(value: Any) -> str:
    if is_empty(value):
        return "nothing"
    text = repr(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."
