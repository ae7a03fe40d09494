"""Characters that hide or steer, spelled out: one list of them for every way out of here (R13).

What an agent wrote is read on pages, terminals, in messages, tables and files. Bidirectional
overrides turn a line around, zero-width characters hide in it, and control characters command the
terminal that prints it (ECMA-48; C1 controls and OSC 8 and 52 as well).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from sureline.core.checks.scripts import is_invisible

_HIDDEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
LINES = frozenset("\n\t")
"""What a text of several lines needs."""
_BEYOND = 0x10000


def is_hidden(char: str) -> bool:
    """Tell whether a character does not show itself, or does something where it is printed."""
    return unicodedata.category(char) in _HIDDEN or is_invisible(char)


def spelled(text: str, *, keep: frozenset[str] = frozenset()) -> str:
    r"""Return a text with its hidden characters as `\u202e`, or `\U000e0001`; `keep` stay."""
    if text.isascii() and text.isprintable():
        return text
    return _replaced(text, keep, _escape)


def spelled_json(written: str) -> str:
    """Return JSON text with hidden characters escaped: another spelling of the same value.

    Line ends and tabs between its values stay; within texts JSON has escaped them already.
    """
    if written.isascii() and "\x7f" not in written:
        return written
    return _replaced(written, LINES, _json_escape)


def _replaced(text: str, keep: frozenset[str], escape: Callable[[str], str]) -> str:
    names = {ord(char): escape(char) for char in set(text) - keep if is_hidden(char)}
    return text.translate(names) if names else text


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\u{code:04x}" if code < _BEYOND else f"\\U{code:08x}"


def _json_escape(char: str) -> str:
    code = ord(char)
    if code < _BEYOND:
        return f"\\u{code:04x}"
    high, low = divmod(code - _BEYOND, 0x400)  # RFC 8259, 7: a pair of surrogates
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
