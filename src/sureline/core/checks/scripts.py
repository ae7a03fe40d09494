"""Recognise letters and characters that deceive the eye; they are reported, never folded (S32)."""

from __future__ import annotations

import re
import unicodedata

from sureline.core.values.shapeless import SHAPELESS

# Scripts whose letters pass for one another; writing that mixes other scripts is ordinary.
_LOOK_ALIKE = frozenset(
    {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "MATHEMATICAL"}
)
# Format characters that are seen: Arabic number signs and the like.
_VISIBLE_FORMAT = frozenset(range(0x0600, 0x0606)) | {0x06DD, 0x070F, 0x08E2, 0x110BD, 0x110CD}
_WORD = re.compile(r"\w+")


def is_invisible(char: str) -> bool:
    """Tell whether a character shows nothing: zero-width, direction marks, fillers, controls."""
    code = ord(char)
    if code in SHAPELESS:
        return True
    kind = unicodedata.category(char)
    return (kind == "Cf" and code not in _VISIBLE_FORMAT) or (kind == "Cc" and char not in "\t\n\r")


def without_invisible(text: str) -> str:
    """Return the text with what shows nothing left out; the same object if there is none."""
    if text.isascii() and text.isprintable():
        return text
    if not any(map(is_invisible, text)):
        return text
    return "".join(char for char in text if not is_invisible(char))


def mixed_script_words(text: str) -> list[str]:
    """Return the words that mix look-alike scripts, such as a Cyrillic а among Latin letters."""
    if text.isascii():
        return []
    return [word for word in _WORD.findall(text) if not word.isascii() and _mixes(word)]


def _mixes(word: str) -> bool:
    return len(scripts_of(word) & _LOOK_ALIKE) > 1


def scripts_of(text: str) -> frozenset[str]:
    """Return the scripts of a text's letters, by the first word of their Unicode names."""
    return frozenset(
        unicodedata.name(char, "").partition(" ")[0] for char in text if char.isalpha()
    )
