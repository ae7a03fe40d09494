"""Fold what is presentation only, so that an honest quote is found; letters are never folded.

Full-width and half-width forms, hyphens, quotes, spaces, ellipses and ligatures differ only in
how they look. Superscripts, fractions and circled digits do not (10² is not 102), and look-alike
letters of another script do not (case S32), so general compatibility folding is not used.
"""

from __future__ import annotations

import re
import unicodedata

FOLDED = "folded"
"""The note of a reader that had to fold digits or full-width forms."""

_HYPHENS = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63"
_SINGLE_QUOTES = "\u2018\u2019\u201a\u201b\u2032\u02bc"
_DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"
_FOLDED_KINDS = ("<wide>", "<narrow>", "<noBreak>")
_LIGATURES = range(0xFB00, 0xFB07)
_SPACES = re.compile(r"\s+")


class _Presentation(dict[int, str]):
    """Maps a code point to its plain form, worked out at first sight."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kind = unicodedata.decomposition(char).partition(" ")[0]
        if kind in _FOLDED_KINDS or code in _LIGATURES:
            char = unicodedata.normalize("NFKC", char)
        elif char.isspace():
            char = " "
        self[code] = char
        return char


_PRESENTATION = _Presentation(
    {
        ord(char): plain
        for chars, plain in (
            (_HYPHENS, "-"),
            (_SINGLE_QUOTES, "'"),
            (_DOUBLE_QUOTES, '"'),
            ("\u2026", "..."),
            ("\uffe5", "¥"),
            ("\u2044", "/"),
        )
        for char in chars
    }
)


def fold_presentation(text: str) -> str:
    """Fold hyphens, quotes, spaces, ellipses, widths and case; white space becomes one space."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_PRESENTATION)
        text = unicodedata.normalize("NFC", text)
    return _SPACES.sub(" ", text.casefold()).strip()


def fold_digits(text: str) -> tuple[str, tuple[str, ...]]:
    """Fold full-width forms, decimal digits of any script, spaces and minus signs; note digits."""
    if text.isascii():
        return text.strip(), ()
    folded = "".join(_fold_digit(char) for char in text)
    noted = any(char.isdecimal() and not char.isascii() for char in text)
    return folded.strip(), (FOLDED,) if noted else ()


def _fold_digit(char: str) -> str:
    if char.isascii():
        return char
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    return _PRESENTATION[ord(char)] if len(_PRESENTATION[ord(char)]) == 1 else char
