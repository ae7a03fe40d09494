"""Whether a passage that a model names as evidence is really there (G1).

A passage that is nowhere takes nothing back: losing evidence never helps an output. It is reported,
because a model that makes up its evidence is one to distrust.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from sureline.core.checks.folding import fold_presentation

MOST_SHOWN = 200
"""Characters of a passage that are kept."""

_LEFT_OUT = re.compile(r"\.{3,}")
"""Where a model leaves out the middle of a passage, once ellipses are folded."""
_EDGES = "\"'`.,;:[]"
"""What a model puts round a passage, or adds at its end."""
_ESCAPES = {"\\n": " ", "\\t": " ", "\\r": " ", '\\"': '"', "\\/": "/", "\\\\": "\\"}
_ESCAPE = re.compile(r'\\[ntr"/\\]')


class Passages:
    """Texts in which passages are looked for, whatever their white space, case and quotes."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._given = tuple(texts)

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        return tuple(_plain(text) for text in self._given)

    def has(self, span: str) -> bool:
        """Tell whether one of the texts has the passage; `...` stands for a part left out."""
        parts = (part.strip(_EDGES) for part in _LEFT_OUT.split(_plain(span)))
        pieces = [part for part in parts if part]
        return bool(pieces) and any(_in_order(pieces, text) for text in self._texts)


def shortened(span: str) -> str:
    """Return a passage as it is kept: on one line, at most MOST_SHOWN characters."""
    line = " ".join(span.split())
    line = line if len(line) <= MOST_SHOWN else f"{line[: MOST_SHOWN - 3]}..."
    return line.encode("utf-8", "replace").decode("utf-8")


def _plain(text: str) -> str:
    # Without white space, because models set JSON anew; and as it reads, because a passage of JSON
    # is quoted with its escapes or without them.
    if "\\" in text:
        text = _ESCAPE.sub(lambda found: _ESCAPES[found[0]], text)
    plain = text.casefold() if text.isascii() else fold_presentation(text)
    return "".join(plain.split())


def _in_order(pieces: Iterable[str], text: str) -> bool:
    position = 0
    for piece in pieces:
        found = text.find(piece, position)
        if found < 0:
            return False
        position = found + len(piece)
    return True
