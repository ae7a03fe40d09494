"""Who acts, whichever way they came: a verdict from chat is its person's (R12)."""

from __future__ import annotations

_INBOUND = "inbound"
FROM_ELSEWHERE = f"{_INBOUND}:"
"""Before a name that is recorded of somebody who spoke through a source."""


def inbound_identity(source: str, person: str) -> str:
    """Return under which name a person's act is recorded that came through a source."""
    return f"{_INBOUND}:{source}:{person}"


def person_of(by: str) -> str:
    """Return the person behind a recorded name: `inbound:chat:Ada` is Ada."""
    way, *rest = by.split(":", 2)
    return rest[1] if way == _INBOUND and len(rest) == 2 else by


def same_person(one: str | None, other: str) -> bool:
    """Tell whether two recorded names are one person's; nobody is no person."""
    return one is not None and person_of(one) == person_of(other)
