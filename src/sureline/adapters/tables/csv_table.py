"""CSV and TSV files."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from sureline.adapters.tables.filtering import matching, wanted_columns
from sureline.adapters.tables.lines import CHUNK, counted_lines, decoded_lines
from sureline.application.ports.tables import Chunk
from sureline.errors import InvalidInput


class CsvTable:
    """A text table with a header; the separator (comma, semicolon or tab) is read from it."""

    unit = "line"

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._path = path

    def chunks(
        self, columns: Sequence[str] | None, where: Sequence[tuple[str, str]] = ()
    ) -> Iterator[Chunk]:
        """Read the rows; see the port."""
        return matching(self._read(columns, where), where, self.name)

    def estimated_rows(self) -> int:
        """Count the lines but the header's; fields of several lines make it too many."""
        return max(0, counted_lines(self._path) - 1)

    def _read(
        self, columns: Sequence[str] | None, where: Sequence[tuple[str, str]]
    ) -> Iterator[Chunk]:
        rows = self._rows()
        _, header = next(rows)
        wanted = wanted_columns(columns, where, header, self.name)
        index = [header.index(column) for column in wanted]
        places: list[int] = []
        values: list[list[str]] = []
        for place, row in rows:
            places.append(place)
            values.append(self._picked(row, index, len(header), place))
            if len(places) == CHUNK:
                yield _chunk(places, wanted, values)
                places, values = [], []
        if places:
            yield _chunk(places, wanted, values)

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield line number and fields of the header and of each row; blank lines are no rows."""
        lines = decoded_lines(self._path)
        skipped, header_line = next(
            ((i, line) for i, line in enumerate(lines, start=1) if line.strip()), (1, "")
        )
        separator = max(",;\t", key=header_line.count)
        yield skipped, self._header(header_line, separator)
        reader = csv.reader(lines, delimiter=separator, strict=True)
        try:
            for row in reader:
                if row:
                    yield reader.line_num + skipped, row
        except csv.Error as error:
            raise InvalidInput(
                f"{self.name}, line {reader.line_num + skipped}: expected CSV: {error}"
            ) from error

    def _header(self, line: str, separator: str) -> list[str]:
        header = [name.strip() for name in next(csv.reader([line], delimiter=separator))]
        repeated = {name for name in header if header.count(name) > 1}
        if repeated:
            raise InvalidInput(f"{self.name}: column {min(repeated)!r} appears more than once")
        return header

    def _picked(self, row: list[str], index: list[int], width: int, place: int) -> list[str]:
        if len(row) != width:
            raise InvalidInput(
                f"{self.name}, line {place}: expected {width} fields as in the header, "
                f"got {len(row)}"
            )
        return [row[i] for i in index]


def _chunk(places: list[int], names: Sequence[str], rows: list[list[str]]) -> Chunk:
    return Chunk(
        places=places, columns=dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    )
