"""SQL compiled once, for the drivers to run as it is (docs/DESIGN: Core per row costs thrice).

Building and compiling a Core statement for each row costs more than the row; the driver takes
the compiled text and plain tuples.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from sqlalchemy import (
    Dialect,
    Select,
    String,
    Table,
    bindparam,
    case,
    insert,
    literal_column,
    select,
)
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite import pysqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.expression import ClauseElement
from sqlalchemy.sql.functions import GenericFunction

SQLITE: Dialect = pysqlite.dialect()
POSTGRES: Dialect = PGDialect_psycopg(paramstyle="format")  # type: ignore[no-untyped-call]


class Statement:
    """A statement for both databases, compiled for each when it is first run there.

    `names` are the parameters in the order in which they are given.
    """

    def __init__(self, element: ClauseElement) -> None:
        self._element = element

    @cached_property
    def _on_sqlite(self) -> tuple[str, tuple[str, ...]]:
        return _text(self._element, SQLITE)

    @cached_property
    def sql(self) -> str:
        """The text for SQLite."""
        return self._on_sqlite[0]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters, in order."""
        return self._on_sqlite[1]

    @cached_property
    def postgres(self) -> str:
        """The text for PostgreSQL, with the parameters in the same order."""
        text, names = _text(self._element, POSTGRES)
        assert names == self.names, f"other order of parameters: {text}"
        return text

    def row(self, values: Mapping[str, Any]) -> tuple[Any, ...]:
        """Put named values in the order of the parameters."""
        return tuple([values[name] for name in self.names])


def _text(element: ClauseElement, dialect: Dialect) -> tuple[str, tuple[str, ...]]:
    found = element.compile(dialect=dialect)
    return str(found), tuple(getattr(found, "positiontup", None) or ())


class _Listed(GenericFunction[Any]):
    """The texts of a JSON list, as rows."""

    name = "json_each"
    inherit_cache = True


@compiles(_Listed, "postgresql")
def _listed_on_postgres(element: _Listed, compiler: SQLCompiler, **options: Any) -> str:
    inner = compiler.process(element.clauses, **options)
    return f"jsonb_array_elements_text(CAST({inner} AS jsonb))"


def listed(name: str) -> Select[Any]:
    """Return the texts of a parameter, as `json_list` writes them: one statement for any number."""
    found = _Listed(bindparam(name, type_=String)).table_valued("value")
    return select(found.c.value.cast(String))


LISTED = listed("ids")
"""The texts of the parameter `ids`."""


class JsonList(str):
    """Texts as a JSON list, for the parameter of `LISTED`; a driver may write them otherwise."""

    __slots__ = ("texts",)
    texts: tuple[str, ...]


def json_list(texts: Iterable[str]) -> JsonList:
    """Write texts as the parameter of `LISTED`."""
    every = tuple(texts)
    written = JsonList(json.dumps(every))
    written.texts = every
    return written


def compiled(element: ClauseElement) -> Statement:
    """Return a statement whose parameters are all named bind parameters."""
    return Statement(element)


def insertion(table: Table) -> Statement:
    """Return a plain insert of every column, in the order of the table."""
    return Statement(insert(table))


def adding(table: Table, *, most: int = 2**63 - 1) -> Statement:
    """Return the statement that adds a row of figures to those that a table has under its key.

    Sums stop at `most`: beyond what an integer of the database holds it would go on otherwise.
    """
    insert_figures = upsert(table)
    keys = {column.name for column in table.primary_key}
    return compiled(
        insert_figures.on_conflict_do_update(
            index_elements=[column.name for column in table.primary_key],
            set_={
                column.name: _at_most(column, insert_figures.excluded[column.name], most)
                for column in table.columns
                if column.name not in keys
            },
        )
    )


def _at_most(column: Any, added: Any, most: int) -> Any:
    """Return the sum, or `most`: compared without adding, because a sum too large is an error."""
    end: Any = literal_column(str(most))
    return case(
        (added <= literal_column("0"), column + added),
        (column > end - added, end),
        else_=column + added,
    )
