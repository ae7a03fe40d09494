"""CSV and TSV files."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sureline.adapters.tables.filtering import matching, wanted_columns
from sureline.adapters.tables.lines import CHUNK, counted_lines, decoded_lines, fault
from sureline.application.ports.tables import Chunk, OnFault
from sureline.errors import InvalidInput


class CsvTable:
    """A text table with a header; the separator (comma, semicolon or tab) is read from it."""

    unit = "line"

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._path = path

    def chunks(
        self,
        columns: Sequence[str] | None,
        where: Sequence[tuple[str, str]] = (),
        on_fault: OnFault | None = None,
    ) -> Iterator[Chunk]:
        """Read the rows; see the port."""
        return matching(self._read(columns, where, on_fault), where, self.name)

    def estimated_rows(self) -> int:
        """Count the lines but the header's; fields of several lines make it too many."""
        return max(0, counted_lines(self._path) - 1)

    def _read(
        self,
        columns: Sequence[str] | None,
        where: Sequence[tuple[str, str]],
        on_fault: OnFault | None,
    ) -> Iterator[Chunk]:
        rows = self._rows(on_fault)
        _, header = next(rows)
        wanted = wanted_columns(columns, where, header, self.name)
        index = [header.index(column) for column in wanted]
        places: list[int] = []
        values: list[list[str]] = []
        for place, row in rows:
            if len(row) != len(header):
                fault(place, self._ragged(row, len(header), place), on_fault)
                continue
            places.append(place)
            values.append([row[i] for i in index])
            if len(places) == CHUNK:
                yield _chunk(places, wanted, values)
                places, values = [], []
        if places:
            yield _chunk(places, wanted, values)

    def _rows(self, on_fault: OnFault | None) -> Iterator[tuple[int, list[str]]]:
        """Yield line number and fields of the header and of each row; blank lines are no rows."""
        lines = decoded_lines(self._path, on_fault)
        skipped, header_line = next(
            ((i, line) for i, line in enumerate(lines, start=1) if line.strip()), (1, "")
        )
        separator = max(",;\t", key=header_line.count)
        yield skipped, self._header(header_line, separator)
        reader = csv.reader(lines, delimiter=separator, strict=True)
        while (row := self._next_row(reader, skipped, on_fault)) is not None:
            if row:
                yield reader.line_num + skipped, row

    def _next_row(self, reader: Any, skipped: int, on_fault: OnFault | None) -> list[str] | None:
        """Return the next row, empty for one that is no CSV, or None at the end."""
        try:
            return next(reader, None)
        except csv.Error as error:
            place = reader.line_num + skipped
            located = InvalidInput(f"{self.name}, line {place}: expected CSV: {error}")
            fault(place, located, on_fault)
            return []

    def _header(self, line: str, separator: str) -> list[str]:
        header = [name.strip() for name in next(csv.reader([line], delimiter=separator))]
        repeated = {name for name in header if header.count(name) > 1}
        if repeated:
            raise InvalidInput(f"{self.name}: column {min(repeated)!r} appears more than once")
        return header

    def _ragged(self, row: list[str], width: int, place: int) -> InvalidInput:
        return InvalidInput(
            f"{self.name}, line {place}: expected {width} fields as in the header, got {len(row)}"
        )


def _chunk(places: list[int], names: Sequence[str], rows: list[list[str]]) -> Chunk:
    return Chunk(
        places=places, columns=dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    )
