"""Where rows of somebody's own table come from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sureline.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Some consecutive rows of a table, by column.

    `places` says where each row stands in the file (its line or row number, from 1); every list
    in `columns` has one value a row. Values are texts in CSV and JSON or Parquet values else.
    """

    places: Sequence[int]
    columns: Mapping[str, Sequence[Any]]


OnFault = Callable[[int, InvalidInput], None]
"""Is told of a row that cannot be read: its place, and why."""


class Table(Protocol):
    """A table that is read in chunks, so that its size does not matter.

    `name` is the file's name; `unit` is what `places` count: `line` or `row`.
    """

    name: str
    unit: str

    def chunks(
        self,
        columns: Sequence[str] | None,
        where: Sequence[tuple[str, str]] = (),
        on_fault: OnFault | None = None,
    ) -> Iterator[Chunk]:
        """Read `columns` (None: all) of the rows in which every (column, value) of `where` holds.

        Values are compared as texts; booleans are `true` and `false`. Raises InvalidInput naming
        file, line or row, and what was expected: a missing column, a row of another shape, bytes
        that are not UTF-8, an unreadable file, or no row left by `where`. Raises MissingExtra
        where the format needs a library that is not installed.

        With `on_fault`, a single row or line that cannot be read is told to it, with its place,
        and left out; the reading goes on.
        """

    def estimated_rows(self) -> int:
        """Return about how many rows there are, to show how far a reading has come."""
