"""Your own documents: a file of outputs with their source and a label."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from sureline.adapters.tables import open_table
from sureline.demo.items import Item, Material
from sureline.errors import InvalidInput

_TYPES = {"date": "date", "total": "money", "amount": "money", "tax": "money"}
_FIELD = "value"
_LABELS = {"0": False, "1": True, "0.0": False, "1.0": True, "false": False, "true": True}


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
    """Read a Parquet, CSV or JSONL file into items, and write the policy that fits its slices.

    Every row is one output of its document; its place in the file is its order of arrival.
    Raises InvalidInput naming the file, row and column, and MissingExtra for Parquet without its
    extra.
    """
    items: list[Item] = []
    sources: dict[str, str] = {}
    seen: set[str] = set()
    for place, row in _read_rows(path, columns):
        item = _item(place, row, sources)
        if item.id in seen:
            raise InvalidInput(f"{place}: the id {item.id!r} is here twice")
        seen.add(item.id)
        items.append(item)
    if not items:
        raise InvalidInput(f"{path.name}: the file has no rows")
    return Material(
        items=items,
        policy=_policy(sorted({item.slice_key for item in items}), grounded=any(sources.values())),
        about=f"{len(items):,} outputs from {path.name}, labelled by its column {columns.correct}.",
        arithmetic=False,
    )


def _read_rows(path: Path, columns: Columns) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every row with its place, by the names of `Columns`; absent columns are left out."""
    table = open_table(path)
    mapped = {field.name: getattr(columns, field.name) for field in fields(columns)}
    for chunk in table.chunks(None):
        for name in ("output", "correct"):
            if mapped[name] not in chunk.columns:
                raise InvalidInput(
                    f"{path.name}: expected a column {mapped[name]!r} with the {name}; "
                    f"the file has {', '.join(chunk.columns)}. Name another with "
                    f"--column {name}=COLUMN"
                )
        present = {name: chunk.columns[c] for name, c in mapped.items() if c in chunk.columns}
        for index, place in enumerate(chunk.places):
            row = {name: values[index] for name, values in present.items()}
            yield f"{path.name}, {table.unit} {place}", row


def _item(place: str, row: Mapping[str, Any], sources: dict[str, str]) -> Item:
    """Read one row; the document's source is remembered for its later rows."""
    label = _LABELS.get(str(row["correct"]).lower())
    if label is None:
        raise InvalidInput(f"{place}: expected 0 or 1 as label, found {row['correct']!r}")
    doc = str(row.get("doc") or place)
    text = row.get("source") or sources.get(doc, "")
    if not isinstance(text, str):
        raise InvalidInput(f"{place}: expected text as source, found {type(text).__name__}")
    sources[doc] = text
    name = str(row.get("slice") or "documents")
    output = row["output"]
    return Item(
        id=str(row.get("id") or place),
        slice_key=slice_name(name),
        task=f"Extract the {name} from the document.",
        source=text,
        output=output if isinstance(output, dict) else {_FIELD: output},
        correct=label,
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
