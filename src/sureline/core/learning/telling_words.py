"""The words that tell some texts from others, as a proposal for a split (L1)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

MOST = 5
"""Words that are proposed."""
DIFFERENCE = 0.3
"""A word stands in so much larger a share of these texts than of the others."""
FEWEST = 3
"""A word stands in at least so many of these texts: one text's own words describe no group."""
CHARACTERS = 20_000
"""So much of a text is read."""

_WORD = re.compile(r"[^\W\d_]{3,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TellingWord:
    """A word, and the shares in [0, 1] of these texts and of the others that it stands in."""

    word: str
    inside: float
    outside: float


def words_of(text: str) -> frozenset[str]:
    """Return the distinct words of three letters or more, without case."""
    return frozenset(_WORD.findall(text[:CHARACTERS].casefold()))


def telling_words(
    inside: Sequence[frozenset[str]], outside: Sequence[frozenset[str]]
) -> tuple[TellingWord, ...]:
    """Return up to five words that stand in more of the `inside` texts, the most telling first."""
    if not inside or not outside:
        return ()
    here = Counter(word for words in inside for word in words)
    there = Counter(word for words in outside for word in words)
    found = [
        TellingWord(word=word, inside=count / len(inside), outside=there[word] / len(outside))
        for word, count in here.items()
        if count >= FEWEST
    ]
    telling = [one for one in found if one.inside - one.outside >= DIFFERENCE]
    return tuple(sorted(telling, key=lambda one: (one.outside - one.inside, one.word))[:MOST])
