"""Who acts, whichever way they came and however their name is written (R12)."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from sureline.core.values.look_alikes import LOOK_ALIKES
from sureline.core.values.shapeless import SHAPELESS

_INBOUND = "inbound"
FROM_ELSEWHERE = f"{_INBOUND}:"
"""Before a name that is recorded of somebody who spoke through a source."""
COMPANY = "company:"
"""Before the name of somebody whom their company has signed in: the ledger says who vouched."""

_UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})


def inbound_identity(source: str, person: str) -> str:
    """Return under which name a person's act is recorded that came through a source."""
    return f"{_INBOUND}:{source}:{person}"


def person_of(by: str) -> str:
    """Return the person behind a recorded name: `inbound:chat:Ada` is Ada."""
    way, *rest = by.split(":", 2)
    return rest[1] if way == _INBOUND and len(rest) == 2 else by


def same_person(one: str | None, other: str) -> bool:
    """Tell whether two recorded names are one person's; nobody is no person.

    Names that are read alike are one, and so is whom a company signs in under the name that a
    key or a chat has for them: with two names somebody would be two of four eyes.
    """
    if one is None:
        return False
    return one == other or not readings(_bare(one)).isdisjoint(readings(_bare(other)))


@lru_cache(maxsize=4096)
def readings(name: str) -> frozenset[str]:
    """Return how a name may be read; two that have one in common look the same.

    Without case, blanks, what is not seen, and ways of writing the same sign (NFKC); and once more
    with the letters of other scripts as the Latin ones that they look like (Unicode TS 39,
    section 4). Never empty: a name of which nothing is seen reads as nothing.
    """
    seen = "".join(char for char in unicodedata.normalize("NFKC", name) if not _is_unseen(char))
    return frozenset({_folded(seen), _folded(seen.translate(LOOK_ALIKES))})


def _bare(by: str) -> str:
    return person_of(by).removeprefix(COMPANY)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text.casefold())


def _is_unseen(char: str) -> bool:
    return ord(char) in SHAPELESS or unicodedata.category(char) in _UNSEEN
