"""A text as it is read: without what is not seen, and with what is escaped in it (L12)."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sureline.core.checks.scripts import is_invisible

ROUNDS = 3
"""So often an escape is undone in which there is another one."""

_ESCAPE = re.compile(
    r"\\+u(?P<json>[0-9a-fA-F]{4})"
    r"|\\+x(?P<byte>[0-9a-fA-F]{2})"
    r"|%(?P<percent>[0-7][0-9a-fA-F])"
    r"|&(?P<named>#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|commat|period|nbsp|hyphen|sol|lowbar|amp);"
)
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True, slots=True)
class Reading:
    """What is read, and where in the original each of its characters begins and ends."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def readings(text: str) -> Iterator[Reading]:
    """Yield a text as it is seen, and then as it reads once what is escaped in it is undone."""
    seen = _seen(text)
    yield seen
    for _ in range(ROUNDS):
        if _ESCAPE.search(seen.text) is None:
            return
        seen = _unescaped(seen)
        yield seen


class _Seen(dict[int, str]):
    """Maps a code point to the one character that is seen, "" where nothing is."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        kind = unicodedata.category(char)
        if char.isdecimal():
            char = str(unicodedata.decimal(char))
        elif kind == "Cf" or is_invisible(char):
            char = ""
        elif kind == "Pd":
            char = "-"
        elif kind == "Zs":
            char = " "
        else:
            folded = unicodedata.normalize("NFKC", char)
            char = folded if len(folded) == 1 else char
        self[code] = char
        return char


_SEEN = _Seen()


def _seen(text: str) -> Reading:
    if text.isascii() and _CONTROL.search(text) is None:
        return Reading(text, range(len(text)), range(len(text)))
    found = [(char, place) for place, code in enumerate(text) if (char := _SEEN[ord(code)])]
    places = [place for _, place in found]
    return Reading("".join(char for char, _ in found), places, places)


def _unescaped(given: Reading) -> Reading:
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    end = 0
    for found in _ESCAPE.finditer(given.text):
        char = _SEEN[ord(_meant(found))]
        parts += [given.text[end : found.start()], char]
        starts += given.starts[end : found.start()]
        ends += given.ends[end : found.start()]
        if char:
            starts.append(given.starts[found.start()])
            ends.append(given.ends[found.end() - 1])
        end = found.end()
    return Reading(
        "".join([*parts, given.text[end:]]),
        [*starts, *given.starts[end:]],
        [*ends, *given.ends[end:]],
    )


def _meant(found: re.Match[str]) -> str:
    """Return the one character that an escape stands for."""
    if found["named"]:
        return html.unescape(found[0])[:1] or "\ufffd"
    return chr(int(found["json"] or found["byte"] or found["percent"], 16))
