"""A SQLite connection as what a transaction works on."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from sureline.adapters.storage.statement import Statement
from sureline.adapters.storage.transaction import COMMON_STREAM


def lenient(data: bytes) -> str:
    """Read a stored text whatever its bytes: a tampered one must reach who looks for tampering."""
    return data.decode("utf-8", "surrogateescape")


class SqliteDriver:
    """The port `Driver` on one connection: whoever writes holds the lock of the whole file.

    So one stream is enough (docs/decisions/0003-one-stream-on-sqlite.md).
    """

    own_stream = COMMON_STREAM
    common_stream = COMMON_STREAM

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def execute(self, statement: Statement, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        """Run one statement and return a cursor."""
        return self._connection.execute(statement.sql, parameters)

    def executemany(self, statement: Statement, rows: Sequence[Sequence[Any]]) -> sqlite3.Cursor:
        """Run one statement for many rows."""
        return self._connection.executemany(statement.sql, rows)

    def each(
        self, statement: Statement, parameters: Sequence[Any] = ()
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query one by one, texts of any bytes included."""
        usual, self._connection.text_factory = self._connection.text_factory, lenient
        try:
            yield from self._connection.execute(statement.sql, parameters)
        finally:
            self._connection.text_factory = usual
