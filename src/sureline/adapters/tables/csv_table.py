"""CSV and TSV files."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from sureline.adapters.tables.csv_rows import CsvRows
from sureline.adapters.tables.faults import Faults
from sureline.adapters.tables.filtering import matching, wanted_columns
from sureline.adapters.tables.lines import CHUNK, counted_lines, decoded_lines
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
        faults = Faults(self.name, on_fault)
        return matching(self._read(columns, where, faults), where, self.name, faults)

    def estimated_rows(self) -> int:
        """Count the lines but the header's; fields of several lines make it too many."""
        return max(0, counted_lines(self._path) - 1)

    def _read(
        self, columns: Sequence[str] | None, where: Sequence[tuple[str, str]], faults: Faults
    ) -> Iterator[Chunk]:
        lines = decoded_lines(self._path, faults)
        before, header_line = self._header_line(lines)
        separator = max(",;\t", key=header_line.count)
        header = self._header(header_line, separator)
        wanted = wanted_columns(columns, where, header, self.name)
        index = [header.index(column) for column in wanted]
        places: list[int] = []
        values: list[list[str]] = []
        for place, row in CsvRows(lines, separator, len(header), place=before, faults=faults):
            places.append(place)
            values.append([row[i] for i in index])
            if len(places) == CHUNK:
                yield _chunk(places, wanted, values)
                places, values = [], []
        if places:
            yield _chunk(places, wanted, values)

    def _header_line(self, lines: Iterator[str | None]) -> tuple[int, str]:
        for number, line in enumerate(lines, start=1):
            if line is None:
                raise InvalidInput(f"{self.name}, line {number}: expected a header in UTF-8")
            if line.strip():
                return number, line
        return 1, ""

    def _header(self, line: str, separator: str) -> list[str]:
        try:
            row = next(csv.reader([line], delimiter=separator, strict=True))
        except csv.Error as error:
            raise InvalidInput(f"{self.name}: expected a header of one line: {error}") from error
        header = [name.strip() for name in row]
        repeated = {name for name in header if header.count(name) > 1}
        if repeated:
            raise InvalidInput(f"{self.name}: column {min(repeated)!r} appears more than once")
        return header


def _chunk(places: list[int], names: Sequence[str], rows: list[list[str]]) -> Chunk:
    return Chunk(
        places=places, columns=dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    )
