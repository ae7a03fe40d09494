"""Who acts: a name that a person or a program may act under."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from sureline.core.gate.company_name import COMPANY
from sureline.core.gate.routing import GUARD
from sureline.core.values.person import FROM_ELSEWHERE
from sureline.errors import InvalidInput

WAYS_IN = (COMPANY, FROM_ELSEWHERE)
"""How names begin whose people come in without a key."""


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


def check_distinct(name: str, known: Iterable[str], *, field: str = "name") -> None:
    """Raise InvalidInput if a key's new name reads like a known one without being the same.

    A name is who somebody is: keys of the same name are the same person, for four eyes, for one's
    own proposals and for what planted errors show. "ada" beside "Ada" would be a second one.
    """
    if _read(name).startswith(WAYS_IN):
        raise InvalidInput(
            f"names that begin with {' or '.join(WAYS_IN)} are those of people who come in "
            "without a key",
            field=field,
        )
    for one in known:
        if one != name and _read(one) == _read(name):
            raise InvalidInput(
                f"there is a key for {one!r} already; write the name in the same way if it is the "
                "same person, and another name if it is not",
                field=field,
            )


def _read(name: str) -> str:
    """Return a name as it is read: without case, blanks and ways of writing the same sign."""
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())
