"""JSONL files: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

from sureline.adapters.tables.filtering import matching, wanted_columns
from sureline.adapters.tables.lines import CHUNK, counted_lines, decoded_lines, fault
from sureline.application.ports.tables import Chunk, OnFault
from sureline.errors import InvalidInput


class JsonlTable:
    """A table of JSON objects; its columns are the keys of the first one."""

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
        return matching(self._read(columns, where, on_fault), where, self.name)

    def estimated_rows(self) -> int:
        """Count the lines."""
        return counted_lines(self._path)

    def _read(
        self,
        columns: Sequence[str] | None,
        where: Sequence[tuple[str, str]],
        on_fault: OnFault | None,
    ) -> Iterator[Chunk]:
        wanted: tuple[str, ...] | None = None
        places: list[int] = []
        rows: list[list[Any]] = []
        for place, record in self._records(on_fault):
            if wanted is None:
                wanted = wanted_columns(columns, where, tuple(record), self.name)
            missing = next((column for column in wanted if column not in record), None)
            if missing is not None:
                error = InvalidInput(f"{self.name}, line {place}: no key {missing!r}")
                fault(place, error, on_fault)
                continue
            places.append(place)
            rows.append([record[column] for column in wanted])
            if len(places) == CHUNK:
                yield _chunk(places, wanted, rows)
                places, rows = [], []
        if places and wanted is not None:
            yield _chunk(places, wanted, rows)

    def _records(self, on_fault: OnFault | None) -> Iterator[tuple[int, dict[str, Any]]]:
        for place, line in enumerate(decoded_lines(self._path, on_fault), start=1):
            if not line.strip():
                continue
            try:
                record = self._record(line)
            except InvalidInput as error:
                located = InvalidInput(f"{self.name}, line {place}: {error}")
                fault(place, located, on_fault)
                continue
            yield place, record

    def _record(self, line: str) -> dict[str, Any]:
        try:
            record = json.loads(line, parse_constant=_refuse)
        except (ValueError, RecursionError) as error:
            raise InvalidInput(f"expected a JSON object: {error}") from error
        if not isinstance(record, dict):
            raise InvalidInput(f"expected a JSON object, got {type(record).__name__}")
        return record


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _chunk(places: list[int], names: Sequence[str], rows: list[list[Any]]) -> Chunk:
    columns = {name: [row[i] for row in rows] for i, name in enumerate(names)}
    return Chunk(places=places, columns=columns)
