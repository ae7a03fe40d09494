"""Statements written in SQLAlchemy Core, compiled once, run by the driver itself.

Building and compiling a Core statement for each row costs more than the row; the driver takes
the compiled text and plain tuples.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Dialect, String, Table, bindparam, func, insert, select
from sqlalchemy.dialects.sqlite import insert as upsert
from sqlalchemy.dialects.sqlite import pysqlite
from sqlalchemy.sql.expression import ClauseElement

SQLITE: Dialect = pysqlite.dialect()


@dataclass(frozen=True, slots=True)
class Statement:
    """Compiled text with the names of its positional parameters, in order."""

    sql: str
    names: tuple[str, ...]

    def row(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """Put named values in the order of the parameters."""
        return tuple([values[name] for name in self.names])


_listed = func.json_each(bindparam("ids")).table_valued("value")
LISTED = select(_listed.c.value.cast(String))
"""The texts of the parameter `ids`, as `json_list` writes them: one statement for any number."""


def json_list(texts: Iterable[str]) -> str:
    """Write texts as the parameter of `LISTED`."""
    return json.dumps(list(texts))


def compiled(element: ClauseElement, dialect: Dialect = SQLITE) -> Statement:
    """Compile a statement whose parameters are all named bind parameters."""
    compiled_element = element.compile(dialect=dialect)
    names = getattr(compiled_element, "positiontup", None) or ()
    return Statement(sql=str(compiled_element), names=tuple(names))


def insertion(table: Table, dialect: Dialect = SQLITE) -> Statement:
    """Compile a plain insert of every column, in the order of the table."""
    return compiled(insert(table), dialect)


def adding(table: Table) -> Statement:
    """Return the statement that adds a row of figures to those that a table has under its key."""
    insert_figures = upsert(table)
    keys = {column.name for column in table.primary_key}
    return compiled(
        insert_figures.on_conflict_do_update(
            index_elements=[column.name for column in table.primary_key],
            set_={
                column.name: column + insert_figures.excluded[column.name]
                for column in table.columns
                if column.name not in keys
            },
        )
    )
