"""Split lines of CSV into rows, and go on behind a row that is broken."""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Iterator

from sureline.adapters.tables.faults import Faults
from sureline.errors import InvalidInput

LONGEST_FIELD = 4_000_000
"""Characters: twice the longest text of a proposal, so that its own limit is what is met."""


class CsvRows:
    """Yields line number and fields of each row of `width` fields; blank lines are no rows.

    A broken row costs its first line only: what follows is read as if it stood alone. Since that
    may be the rest of a broken text, a line with half a pair of quotes is then no row either,
    until a whole row has come. `place` is the number of lines before the first.
    """

    def __init__(
        self, lines: Iterator[str | None], separator: str, width: int, *, place: int, faults: Faults
    ) -> None:
        self._lines = lines
        self._separator = separator
        self._width = width
        self._place = place
        self._faults = faults
        self._again: deque[str | None] = deque()
        self._taken: list[str | None] = []
        self._in_doubt = False

    def __iter__(self) -> Iterator[tuple[int, list[str]]]:
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_FIELD))
        reader = self._reader()
        while True:
            self._taken.clear()
            try:
                row = next(reader, None)
            except csv.Error as error:
                self._skip(_no_csv(error), broken=True)
                reader = self._reader()
                continue
            if row is None:
                return
            refusal = self._refusal(row)
            if refusal is not None:
                self._skip(refusal, broken=len(self._taken) > 1)
            elif row and None not in self._taken:
                self._in_doubt = False
                yield self._place, row

    def _reader(self) -> Iterator[list[str]]:
        return csv.reader(self._feed(), delimiter=self._separator, strict=True)

    def _feed(self) -> Iterator[str]:
        while True:
            try:
                line = self._again.popleft() if self._again else next(self._lines)
            except StopIteration:
                return
            self._place += 1
            self._taken.append(line)
            yield "\n" if line is None else line

    def _refusal(self, row: list[str]) -> InvalidInput | None:
        """Return what is wrong with a row of another width or one that may be no row."""
        if row and len(row) != self._width:
            return InvalidInput(f"expected {self._width} fields as in the header, got {len(row)}")
        if self._in_doubt and sum((line or "").count('"') for line in self._taken) % 2:
            return InvalidInput("expected CSV: this may be the rest of a broken row before it")
        return None

    def _skip(self, fault: InvalidInput, *, broken: bool) -> None:
        """Tell of a row and give back all of its lines but the first."""
        first, *rest = self._taken
        self._place -= len(rest)
        self._again.extendleft(reversed(rest))
        self._in_doubt = self._in_doubt or broken
        if first is not None:  # a line that is no text was told of when it was read
            self._faults.at(self._place, fault)


def _no_csv(error: Exception) -> InvalidInput:
    reason = "a quote is opened and never closed" if "end of data" in str(error) else str(error)
    return InvalidInput(f"expected CSV: {reason}")
