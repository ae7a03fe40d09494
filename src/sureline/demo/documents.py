"""Your own documents: a Parquet file of outputs with their source and a label."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from sureline.demo.items import Item, Material
from sureline.errors import InvalidInput, MissingExtra

_TYPES = {"date": "date", "total": "money", "amount": "money", "tax": "money"}
_FIELD = "value"


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Which column of the file holds what.

    `output` and `correct` must be there. `doc` groups the rows of one document, whose `source`
    may stand in its first row only. Without `slice` all rows are one slice.
    """

    id: str = "id"
    doc: str = "doc"
    slice: str = "slice"
    source: str = "source_text"
    output: str = "output"
    correct: str = "correct"

    @classmethod
    def parse(cls, pairs: Sequence[str]) -> Columns:
        """Read pairs such as `output=answer`. Raises InvalidInput."""
        known = [field.name for field in fields(cls)]
        chosen: dict[str, str] = {}
        for pair in pairs:
            name, sign, column = pair.partition("=")
            if not sign or name not in known or not column:
                raise InvalidInput(
                    f"expected NAME=COLUMN with NAME one of {', '.join(known)}; found {pair!r}",
                    field="columns",
                )
            chosen[name] = column
        return cls(**chosen)


def read_documents(path: Path, columns: Columns) -> Material:
    """Read a Parquet file into items, and write the policy that fits its slices.

    Every row is one output of its document; its place in the file is its order of arrival.
    Raises InvalidInput naming the file, column and row, and MissingExtra without pyarrow.
    """
    rows = _read_rows(path, columns)
    if not rows:
        raise InvalidInput(f"{path}: the file has no rows")
    items: list[Item] = []
    sources: dict[str, str] = {}
    seen: set[str] = set()
    for number, row in enumerate(rows, start=1):
        item = _item(row, number, path, columns, sources)
        if item.id in seen:
            raise InvalidInput(f"{path}, row {number}: the id {item.id!r} is here twice")
        seen.add(item.id)
        items.append(item)
    return Material(
        items=items,
        policy=_policy(sorted({item.slice_key for item in items}), grounded=any(sources.values())),
        about=f"{len(items):,} outputs from {path.name}, with the labels in its column "
        f"{columns.correct!r}.",
        arithmetic=False,
    )


def _read_rows(path: Path, columns: Columns) -> list[dict[str, Any]]:
    """Read the mapped columns that the file has."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise MissingExtra(
            "reading Parquet needs pyarrow: pip install 'sureline[parquet]'"
        ) from error
    if not path.is_file():
        raise InvalidInput(f"{path}: there is no such file")
    try:
        present = pq.read_schema(path).names
        wanted = [getattr(columns, field.name) for field in fields(columns)]
        for name in ("output", "correct"):
            column = getattr(columns, name)
            if column not in present:
                raise InvalidInput(
                    f"{path}: expected a column {column!r} with the {name}; the file has "
                    f"{', '.join(present)}. Name another with --column {name}=COLUMN"
                )
        table = pq.read_table(path, columns=[name for name in wanted if name in present])
    except (pa.ArrowInvalid, OSError) as error:
        raise InvalidInput(f"{path}: this cannot be read as Parquet: {error}") from error
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows


def _item(
    row: Mapping[str, Any], number: int, path: Path, columns: Columns, sources: dict[str, str]
) -> Item:
    """Read one row; the document's source is remembered for its later rows."""
    place = f"{path}, row {number}"
    correct = row[columns.correct]
    if correct not in (0, 1):
        raise InvalidInput(
            f"{place}, column {columns.correct!r}: expected 0 or 1, found {correct!r}"
        )
    doc = str(row.get(columns.doc) or f"row-{number}")
    text = row.get(columns.source) or sources.get(doc, "")
    if not isinstance(text, str):
        raise InvalidInput(f"{place}, column {columns.source!r}: expected text")
    sources[doc] = text
    name = str(row.get(columns.slice) or "documents")
    return Item(
        id=str(row.get(columns.id) or f"{doc}/{number}"),
        slice_key=slice_name(name),
        task=f"Extract the {name} from the document.",
        source=text,
        output=row[columns.output]
        if isinstance(row[columns.output], dict)
        else {_FIELD: row[columns.output]},
        correct=bool(correct),
    )


def slice_name(text: str) -> str:
    """Make a name that a policy admits out of any text."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.")[:100] or "documents"


def _policy(slices: Sequence[str], *, grounded: bool) -> str:
    """Write a log-only policy: every value must be there and be findable in its source."""
    schema = {"type": "object", "required": [_FIELD]}
    settings: dict[str, Any] = {}
    for name in slices:
        settings[name] = {"rules": [{"field": _FIELD, "required": True, "penalty": 0.5}]}
        if grounded:
            kind = _TYPES.get(name, "text")
            settings[name]["grounding"] = {"fields": [_FIELD], "types": {_FIELD: kind}}
            settings[name]["reading"] = {"locale": "en", "date_order": "DMY"}
    defaults = {
        "mode": "log_only",
        "preset": "objective",
        "attempts": 1,
        "history": {"similarity_floor": 0.2},
        "output": {"json_schema": schema},
    }
    return json.dumps({"version": 1, "defaults": defaults, "slices": settings}, indent=2)
