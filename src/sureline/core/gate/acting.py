"""Who acts: a name that a person or a program may act under."""

from __future__ import annotations

from sureline.core.gate.routing import GUARD
from sureline.errors import InvalidInput


def acting(by: str, *, field: str = "by") -> str:
    """Return who acts, without blanks around. Raises InvalidInput for nobody and for the guard.

    The guard's name is its own: a switch under it counts as the guard's, with other reasons and
    another way back.
    """
    name = by.strip()
    if not name:
        raise InvalidInput("must not be empty", field=field)
    if name.casefold() == GUARD:
        raise InvalidInput(f"{name!r} is the guard's own name; give yours", field=field)
    return name
