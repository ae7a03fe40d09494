"""Where the values of an output stand in its sources: for the eyes of a reviewer, never a score.

What counts as standing there is what grounding counts (G7): whole tokens, numbers and dates by
their value. A place that is missed costs a mark on a page and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from sureline.core.checks.dates import DateFormat, read_date
from sureline.core.checks.folding import fold_presentation
from sureline.core.checks.reading import Read
from sureline.core.checks.source_index import SourceIndex
from sureline.core.checks.tokens import MAX_OCCURRENCES, joins
from sureline.core.values.checks import FieldType

MOST_PLACES = 20
"""Places of one value in one source; a value that stands everywhere tells nothing."""

Span = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Characters `start` to `end` of source number `source` are the value of `field`.

    `field` is None for the whole output.
    """

    source: int
    start: int
    end: int
    field: str | None


class SearchedText:
    """A source in which places are looked for; `index` reads its numbers."""

    def __init__(self, index: SourceIndex, form: DateFormat) -> None:
        self._index = index
        self._form = form
        self._folded, self._origin = _folded(index.text)

    def places(
        self, text: str, read: Decimal | date | None, kind: FieldType | None
    ) -> Sequence[Span]:
        """Return where a value stands: its text, and what it was read as where it is no text."""
        if isinstance(read, Decimal):
            return self._index.number_spans(read)[:MOST_PLACES]
        found = list(self._dates(read)) if isinstance(read, date) else []
        if kind is not FieldType.DATE:
            found += self._texts(fold_presentation(text))
        return sorted(set(found))[:MOST_PLACES]

    def _dates(self, wanted: date) -> Iterator[Span]:
        text = self._index.text.casefold()
        if len(text) != len(self._index.text):
            return  # the places would be those of another text
        for found in self._form.search.finditer(text):
            read = read_date(found.group(), self._form)
            if isinstance(read, Read) and read.value == wanted:
                yield found.span()

    def _texts(self, wanted: str) -> Iterator[Span]:
        text, start = self._folded, -1
        for _ in range(MAX_OCCURRENCES if wanted else 0):
            start = text.find(wanted, start + 1)
            if start < 0:
                return
            end = start + len(wanted)
            if not joins(text, start) and not joins(text, end):
                yield self._origin[start], self._origin[end - 1] + 1


def _folded(text: str) -> tuple[str, list[int]]:
    """Fold a text's presentation, and say for each character which one it comes from."""
    pieces: list[str] = []
    origin: list[int] = []
    for at, char in enumerate(text):
        if char.isspace():
            piece = "" if pieces and pieces[-1] == " " else " "
        else:
            piece = char.casefold() if char.isascii() else fold_presentation(char)
        if piece:
            pieces.append(piece)
            origin += [at] * len(piece)
    return "".join(pieces), origin
