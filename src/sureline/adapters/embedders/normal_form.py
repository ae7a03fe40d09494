"""The form of a text that is embedded: what looks the same is embedded the same (H21)."""

from __future__ import annotations

import unicodedata

_BLANKS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
"""Characters that draw nothing although their category says letter, mark or symbol."""

_VARIATION_SELECTORS = (("\u180b", "\u180f"), ("\ufe00", "\ufe0f"), ("\U000e0100", "\U000e01ef"))

_NOTHING_TO_SEE = frozenset({"Cc", "Cf", "Cn", "Cs", "Zl", "Zp", "Zs"})


def normal_form(text: str) -> str:
    """Return `text` in NFC with runs of white space as one space.

    Invisible characters inside a text stay: they make it less like what was approved before,
    which sends it to a person. A text with nothing to see in it gives "" (H07).
    """
    form = " ".join(text.split())
    if not form.isascii():
        form = unicodedata.normalize("NFC", form)
    return form if any(map(_is_visible, form)) else ""


def _is_visible(character: str) -> bool:
    if "!" <= character <= "~":
        return True
    if character in _BLANKS or unicodedata.category(character) in _NOTHING_TO_SEE:
        return False
    return not any(first <= character <= last for first, last in _VARIATION_SELECTORS)
