"""Keep the rows in which given columns have given values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sureline.adapters.tables.faults import Faults
from sureline.application.ports.tables import Chunk
from sureline.errors import InvalidInput

_SHOWN = 8


def wanted_columns(
    columns: Sequence[str] | None,
    where: Sequence[tuple[str, str]],
    present: Sequence[str],
    name: str,
) -> tuple[str, ...]:
    """Return the columns to read, without repeats. Raises InvalidInput for one that is absent."""
    asked = present if columns is None else columns
    wanted = tuple(dict.fromkeys([*asked, *(column for column, _ in where)]))
    for column in wanted:
        if column not in present:
            known = ", ".join(present) or "none"
            raise InvalidInput(f"{name}: no column {column!r}; the columns are {known}")
    return wanted


def matching(
    chunks: Iterable[Chunk],
    where: Sequence[tuple[str, str]],
    name: str,
    faults: Faults | None = None,
) -> Iterator[Chunk]:
    """Yield the rows in which every (column, value) holds.

    Raises InvalidInput at the end if there was no such row, naming values that were seen; but not
    where all rows are among `faults`, which were told.
    """
    found = False
    seen: dict[str, set[str]] = {column: set() for column, _ in where}
    for chunk in chunks:
        kept = _kept(chunk, where, seen)
        if kept:
            found = True
            yield _pick(chunk, kept) if len(kept) < len(chunk.places) else chunk
    told = faults is not None and faults.any and not where
    if not found and not told:
        raise InvalidInput(_nothing(name, where, seen))


def _kept(chunk: Chunk, where: Sequence[tuple[str, str]], seen: dict[str, set[str]]) -> list[int]:
    kept = list(range(len(chunk.places)))
    for column, value in where:
        texts = [_text(v) for v in chunk.columns[column]]
        if len(seen[column]) <= _SHOWN:
            seen[column].update(texts)
        kept = [i for i in kept if texts[i] == value]
    return kept


def _pick(chunk: Chunk, kept: Sequence[int]) -> Chunk:
    return Chunk(
        places=[chunk.places[i] for i in kept],
        columns={name: [values[i] for i in kept] for name, values in chunk.columns.items()},
    )


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _nothing(name: str, where: Sequence[tuple[str, str]], seen: dict[str, set[str]]) -> str:
    if not where:
        return f"{name}: no rows"
    asked = " and ".join(f"{column}={value}" for column, value in where)
    parts = []
    for column, values in seen.items():
        shown = ", ".join(sorted(values)[:_SHOWN]) + (", ..." if len(values) > _SHOWN else "")
        parts.append(f"{column} is one of {shown}" if values else f"{column} is never set")
    return f"{name}: no row with {asked}; {'; '.join(parts)}"
