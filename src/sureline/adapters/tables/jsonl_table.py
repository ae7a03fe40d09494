"""JSONL files: one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from sureline.adapters.tables.faults import Faults
from sureline.adapters.tables.filtering import matching, wanted_columns
from sureline.adapters.tables.lines import CHUNK, counted_lines, decoded_lines
from sureline.application.ports.tables import Chunk, OnFault
from sureline.core.values.strict_json import strict_json
from sureline.errors import InvalidInput

_FIRST = 1_000


class JsonlTable:
    """A table of JSON objects; its columns are the keys of the first one.

    Columns that are asked for need not be in the very first one, but among the first thousand.
    """

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
        """Read the rows; see the port. A key that a later line lacks is an error."""
        faults = Faults(self.name, on_fault)
        return matching(self._read(columns, where, faults), where, self.name, faults)

    def estimated_rows(self) -> int:
        """Count the lines."""
        return counted_lines(self._path)

    def _read(
        self, columns: Sequence[str] | None, where: Sequence[tuple[str, str]], faults: Faults
    ) -> Iterator[Chunk]:
        records = self._records(faults)
        first = list(islice(records, _FIRST))
        if not first:
            return
        present = first[:1] if columns is None else first
        keys = tuple(dict.fromkeys(key for _, record in present for key in record))
        wanted = wanted_columns(columns, where, keys, self.name)
        places: list[int] = []
        rows: list[list[Any]] = []
        for place, record in chain(first, records):
            missing = next((column for column in wanted if column not in record), None)
            if missing is not None:
                faults.at(place, InvalidInput(f"no key {missing!r}"))
                continue
            places.append(place)
            rows.append([record[column] for column in wanted])
            if len(places) == CHUNK:
                yield _chunk(places, wanted, rows)
                places, rows = [], []
        if places:
            yield _chunk(places, wanted, rows)

    def _records(self, faults: Faults) -> Iterator[tuple[int, dict[str, Any]]]:
        for place, line in enumerate(decoded_lines(self._path, faults), start=1):
            if line is None or not line.strip():
                continue
            try:
                record = self._record(line)
            except InvalidInput as error:
                faults.at(place, error)
                continue
            yield place, record

    def _record(self, line: str) -> dict[str, Any]:
        try:
            record = strict_json(line)
        except ValueError as error:
            raise InvalidInput(f"expected a JSON object: {error}") from error
        if not isinstance(record, dict):
            raise InvalidInput(f"expected a JSON object, got {type(record).__name__}")
        return record


def _chunk(places: list[int], names: Sequence[str], rows: list[list[Any]]) -> Chunk:
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return Chunk(places=places, columns=columns)
