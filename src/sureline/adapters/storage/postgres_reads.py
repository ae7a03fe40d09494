"""Asks the queries of many callers in one round trip; the other half of gathered reading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import psycopg

from sureline.adapters.storage.postgres_driver import Connection
from sureline.adapters.storage.postgres_errors import store_error
from sureline.adapters.storage.statement import Statement

Query = tuple[Statement, Sequence[Any]]


class PostgresReads:
    """Owns one reading connection, and makes a new one after it was lost; one thread only.

    `before` is told of the connection ahead of each batch.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        where: str,
        *,
        before: Callable[[Connection], None],
    ) -> None:
        self._connect = connect
        self._where = where
        self._before = before
        self._connection: Connection | None = None

    def __call__(self, queries: Sequence[Query]) -> list[Any]:
        """Return the rows of each query, or its error; asked again where the line broke.

        What concerns all (no line, no answer) is not tried once per query.
        """
        try:
            return self._asked(queries)
        except psycopg.Error as error:
            if len(queries) == 1 or self._is_lost():
                return [store_error(error, self._where)] * len(queries)
        return [self([query])[0] for query in queries]

    def close(self) -> None:
        """Let go of the connection."""
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
        self._connection = None

    def _is_lost(self) -> bool:
        return self._connection is None or self._connection.closed

    def _asked(self, queries: Sequence[Query]) -> list[Any]:
        was_open = not self._is_lost()
        try:
            return self._ask(queries)
        except psycopg.OperationalError:
            if not (was_open and self._is_lost()):
                raise
        return self._ask(queries)

    def _ask(self, queries: Sequence[Query]) -> list[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = self._connect()
        self._before(self._connection)
        if len(queries) == 1:
            statement, parameters = queries[0]
            return [self._connection.execute(statement.postgres, parameters).fetchall()]
        with self._connection.pipeline():
            cursors = [
                self._connection.execute(statement.postgres, parameters)
                for statement, parameters in queries
            ]
            return [cursor.fetchall() for cursor in cursors]
