"""What a strict reader answers: a value, or a clear no; never a guess."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

T_co = TypeVar("T_co", covariant=True)

AMBIGUOUS = "ambiguous"
"""The text has more than one reading and the policy does not say which."""
UNREADABLE = "unreadable"
"""The text has no reading."""
NON_FINITE = "non_finite"
"""The text names no finite number."""
WRONG_CURRENCY = "wrong_currency"
"""The text names another currency than the policy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Read(Generic[T_co]):
    """A value with notes (codes) on what had to be folded, and the currency if one stood there."""

    value: T_co
    notes: tuple[str, ...] = ()
    currency: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """Why there is no value; `message` may quote the text."""

    code: str
    message: str


def quote(text: str, limit: int = 80) -> str:
    """Quote a text in a message, shortened."""
    return repr(text if len(text) <= limit else text[:limit] + "...")
