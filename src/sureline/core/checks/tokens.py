"""Find a text inside another on token boundaries, so that OR is not found in `record` (S27)."""

from __future__ import annotations

import re
import unicodedata

_JOINERS = frozenset("-_./:@'’+#&\\")
"""Between two letters or digits these make one token of them: billing-eu-retry (case S29)."""

MAX_OCCURRENCES = 1000
"""So many places are looked at before the answer is no; bounds the time on hostile texts."""

# Scripts written without spaces: a neighbour says nothing about where a word ends.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u309f\u3400-\u4dbf\u4e00-\u9fff"
    "\uf900-\ufaff\U00020000-\U0003ffff]"
)
_KATAKANA = re.compile("[\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff]")


def contains_token(text: str, wanted: str) -> bool:
    """Tell whether `wanted` stands in `text` as a whole token or a run of whole tokens."""
    if not wanted:
        return False
    start = -1
    for _ in range(MAX_OCCURRENCES):
        start = text.find(wanted, start + 1)
        if start < 0:
            return False
        if not joins(text, start) and not joins(text, start + len(wanted)):
            return True
    return False


def joins(text: str, at: int) -> bool:
    """Tell whether the characters before and after position `at` belong to one token."""
    if at <= 0 or at >= len(text):
        return False
    before, after = text[at - 1], text[at]
    if before in _JOINERS:
        return at >= 2 and is_word(text[at - 2]) and is_word(after)
    if after in _JOINERS:
        return is_word(before) and is_word(text[at + 1 : at + 2]) and not _is_possessive(text, at)
    if before == "," or after == ",":
        return (before.isdigit() and text[at + 1 : at + 2].isdigit()) or (
            after.isdigit() and at >= 2 and text[at - 2].isdigit()
        )
    return is_word(before) and is_word(after) and not _is_unspaced(before, after)


def is_word(char: str) -> bool:
    """Tell whether a character is part of a word: letters, digits, marks, and invisible ones."""
    if char.isalnum() or char == "_":
        return True
    return bool(char) and not char.isascii() and unicodedata.category(char)[0] in "MC"


def is_unspaced(char: str) -> bool:
    """Tell whether a character belongs to a script that is written without spaces."""
    return bool(_UNSPACED.match(char))


def _is_possessive(text: str, at: int) -> bool:
    """Tell whether 's follows, as in Acme's."""
    follows = text[at + 2 : at + 3]
    return text[at] in "'’" and text[at + 1] in "sS" and not is_word(follows)


def _is_unspaced(before: str, after: str) -> bool:
    """Tell whether a boundary lies here although both are letters."""
    if is_unspaced(before) or is_unspaced(after):
        return True
    return bool(_KATAKANA.match(before)) != bool(_KATAKANA.match(after))
