"""Parquet files, with the optional library that reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sureline.adapters.tables.filtering import matching, wanted_columns
from sureline.adapters.tables.lines import CHUNK
from sureline.application.ports.tables import Chunk, OnFault
from sureline.errors import InvalidInput, MissingExtra


class ParquetTable:
    """A columnar file; only the columns that are asked for are read."""

    unit = "row"

    def __init__(self, path: Path) -> None:
        self.name = path.name
        self._path = path

    def chunks(
        self,
        columns: Sequence[str] | None,
        where: Sequence[tuple[str, str]] = (),
        on_fault: OnFault | None = None,  # noqa: ARG002 - its rows all have one shape
    ) -> Iterator[Chunk]:
        """Read the rows; see the port."""
        return matching(self._read(columns, where), where, self.name)

    def estimated_rows(self) -> int:
        """Return what the file's footer says; 0 where it cannot be read."""
        arrow, parquet = _libraries()
        try:
            with parquet.ParquetFile(self._path) as file:
                return int(file.metadata.num_rows)
        except (arrow.ArrowException, OSError):
            return 0

    def _read(
        self, columns: Sequence[str] | None, where: Sequence[tuple[str, str]]
    ) -> Iterator[Chunk]:
        arrow, parquet = _libraries()
        try:
            with parquet.ParquetFile(self._path) as file:
                names = tuple(file.schema_arrow.names)
                wanted = wanted_columns(columns, where, names, self.name)
                first = 1
                for batch in file.iter_batches(batch_size=CHUNK, columns=list(wanted)):
                    places = range(first, first + batch.num_rows)
                    values = {name: batch.column(name).to_pylist() for name in wanted}
                    yield Chunk(places=places, columns=values)
                    first += batch.num_rows
        except (arrow.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise InvalidInput(f"{self.name}: expected a Parquet file: {reason}") from error


def _libraries() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise MissingExtra(
            "Parquet files need an extra: pip install 'sureline[parquet]'"
        ) from error
    return pyarrow, pyarrow.parquet
