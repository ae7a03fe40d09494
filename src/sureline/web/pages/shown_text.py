"""What others wrote, as it may stand on a page: inert, and nothing in it hides (R13)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

from sureline.core.hidden_text import LINES, is_hidden

_STACKED = frozenset({"Mn", "Me"})
MOST_STACKED = 4
"""Marks on one letter that are drawn; a hundred would cover the lines above."""

Hidden = re.Pattern[str] | None


class Span(NamedTuple):
    """Characters `start` to `end` of a text stand for `name`."""

    start: int
    end: int
    name: str


def shown(text: object) -> Markup:
    """Return a text escaped, with marks that steer or hide spelled out by their code points.

    Bidirectional overrides, zero-width and control characters, tags, fillers and line separators
    are written as U+202E, so that what a reviewer reads is what is there.
    """
    whole = str(text)
    return _spelled(whole, _hidden_in(whole))


def marked(text: str, spans: Sequence[Span]) -> Markup:
    """Return a text as `shown` does, with spans in `<mark>`; of two that overlap, the first."""
    hidden = _hidden_in(text)
    parts, at = [], 0
    for start, end, name in sorted(spans):
        if start < at:
            continue
        parts.append(_spelled(text[at:start], hidden))
        inner = _spelled(text[start:end], hidden)
        parts.append(Markup('<mark title="{}">{}</mark>').format(name, inner))
        at = end
    parts.append(_spelled(text[at:], hidden))
    return Markup("").join(parts)


def brief(text: object, most: int = 120) -> Markup:
    """Return the beginning of a text, as `shown` does, on one line."""
    line = " ".join(str(text)[: 4 * most].split())
    return shown(line if len(line) <= most else line[:most] + "…")


def hides(text: str) -> bool:
    """Tell whether something in a text does not show itself."""
    return _hidden_in(text) is not None


def _hidden_in(text: str) -> Hidden:
    """Return a pattern of what hides in a text, None if nothing does."""
    if text.isascii() and text.isprintable():
        return None
    used = set(text)
    hidden = {char for char in used - LINES if is_hidden(char)}
    marks = {char for char in used - hidden if unicodedata.category(char) in _STACKED}
    patterns = []
    if hidden:
        patterns.append(rf"({_one_of(hidden)})\1*")
    if marks:
        patterns.append(rf"(?<={_one_of(marks)}{{{MOST_STACKED}}}){_one_of(marks)}+")
    return re.compile("|".join(patterns)) if patterns else None


def _one_of(characters: Iterable[str]) -> str:
    return "[" + "".join(map(re.escape, sorted(characters))) + "]"


def _spelled(text: str, hidden: Hidden) -> Markup:
    """Escape a text; a run of one hidden character becomes its code and how many there are."""
    if hidden is None:
        return escape(text)
    parts, at = [], 0
    for found in hidden.finditer(text):
        run = found.group()
        parts.append(escape(text[at : found.start()]))
        parts.append(Markup('<span class="hidden-mark">{}</span>').format(_name(run)))
        at = found.end()
    parts.append(escape(text[at:]))
    return Markup("").join(parts)


def _name(run: str) -> str:
    times = "" if len(run) == 1 else f" ×{len(run)}"
    if is_hidden(run[0]):
        return f"U+{ord(run[0]):04X}{times}"
    return f"{len(run)} more marks"
