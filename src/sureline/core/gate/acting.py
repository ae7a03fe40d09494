"""Who acts: a name that a person or a program may act under."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

from sureline.core.checks.scripts import scripts_of
from sureline.core.gate.routing import GUARD
from sureline.core.hidden_text import is_hidden
from sureline.core.values.outcome import MISMATCH
from sureline.core.values.person import COMPANY, FROM_ELSEWHERE, readings, same_person
from sureline.errors import InvalidInput

WAYS_IN = (COMPANY, FROM_ELSEWHERE)
"""How names begin whose people come in without a key."""

OWN_NAMES = frozenset(
    {
        GUARD,
        MISMATCH,
        "canaries",
        "deadline",
        "environment",
        "observed",
        "policy",
        "reembed",
        "sureline",
    }
)
"""Names under which sureline itself acts: what stands under one of them is read as its own."""

_TOGETHER = (
    frozenset({"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"}),
    frozenset({"LATIN", "CJK", "BOPOMOFO"}),
    frozenset({"LATIN", "CJK", "HANGUL"}),
)
"""Scripts that are written in one name (Unicode TS 39, section 5.2: highly restrictive)."""


def acting(by: str, *, field: str = "by") -> str:
    """Return who acts, without blanks around.

    Raises InvalidInput for nobody, for a name in which something is not seen, and for one under
    which sureline itself acts: a switch under the guard's counts as the guard's, with other
    reasons and another way back.
    """
    name = by.strip()
    if not name:
        raise InvalidInput("must not be empty", field=field)
    if any(map(is_hidden, name)):
        raise InvalidInput("a name holds nothing that is not seen when it is read", field=field)
    if not readings(name).isdisjoint(OWN_NAMES):
        whose = "the guard's own name" if name.casefold() == GUARD else "a name of sureline's own"
        raise InvalidInput(f"{name!r} is {whose}; give yours", field=field)
    return name


def check_distinct(name: str, known: Iterable[str], *, field: str = "name") -> None:
    """Raise InvalidInput if a name reads like a known one without being the same, or deceives.

    A name is who somebody is: keys of the same name are the same person, for four eyes, for one's
    own proposals and for what planted errors show. "ada" beside "Ada" would be a second one, and
    so would an "Ada" with a Cyrillic letter in it.
    """
    if _begins(name, WAYS_IN):
        raise InvalidInput(
            f"names that begin with {' or '.join(WAYS_IN)} are those of people who come in "
            "without a key",
            field=field,
        )
    if not _is_of_one_script(name):
        raise InvalidInput(
            f"{name!r} mixes letters of several scripts, which look alike; write a name in one",
            field=field,
        )
    for one in known:
        if one != name and same_person(one, name):
            raise InvalidInput(
                f"there is a key for {one!r} already; write the name in the same way if it is the "
                "same person, and another name if it is not",
                field=field,
            )


def _begins(name: str, ways: tuple[str, ...]) -> bool:
    return any(one.startswith(ways) for one in readings(name))


def _is_of_one_script(name: str) -> bool:
    scripts = scripts_of(unicodedata.normalize("NFKC", name))
    return len(scripts) < 2 or any(scripts <= one for one in _TOGETHER)
