"""Choose the reader of a file by its first bytes and its extension."""

from __future__ import annotations

from pathlib import Path

from sureline.adapters.tables.csv_table import CsvTable
from sureline.adapters.tables.jsonl_table import JsonlTable
from sureline.adapters.tables.parquet_table import ParquetTable
from sureline.application.ports.tables import Table
from sureline.errors import InvalidInput

_GZIP, _ZIP, _PARQUET, _BOM = b"\x1f\x8b", b"PK\x03\x04", b"PAR1", b"\xef\xbb\xbf"


def open_table(path: Path) -> Table:
    """Return the reader for a CSV (or TSV), JSONL or Parquet file; nothing but its start is read.

    Raises InvalidInput where the file is absent, empty, compressed or a JSON array.
    """
    start = _first_bytes(path)
    suffix = path.suffix.lower()
    if start.startswith(_PARQUET) or suffix in {".parquet", ".pq"}:
        return ParquetTable(path)
    if start.startswith((_GZIP, _ZIP)):
        raise InvalidInput(f"{path.name}: the file is compressed; expected CSV, JSONL or Parquet")
    text = start.removeprefix(_BOM).lstrip()
    if text.startswith(b"[") and suffix != ".csv":
        raise InvalidInput(
            f"{path.name}: the file is a JSON array; expected JSONL, one object a line"
        )
    if suffix in {".jsonl", ".ndjson"} or text.startswith(b"{"):
        return JsonlTable(path)
    return CsvTable(path)


def _first_bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            start = file.read(4096)
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise InvalidInput(f"{path}: cannot open the file: {reason}") from error
    if not start.strip():
        raise InvalidInput(f"{path.name}: the file is empty")
    return start
