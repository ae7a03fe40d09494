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
    """Owns one reading connection, and makes a new one after it was lost; one thread only."""

    def __init__(self, connect: Callable[[], Connection], where: str) -> None:
        self._connect = connect
        self._where = where
        self._connection: Connection | None = None

    def __call__(self, queries: Sequence[Query]) -> list[Any]:
        """Return the rows of each query, or its error; asked again where the line broke."""
        try:
            try:
                return self._ask(queries)
            except psycopg.OperationalError:
                self.close()
                return self._ask(queries)
        except psycopg.Error as error:
            if len(queries) == 1:
                return [store_error(error, self._where)]
        return [self([query])[0] for query in queries]

    def close(self) -> None:
        """Let go of the connection."""
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
        self._connection = None

    def _ask(self, queries: Sequence[Query]) -> list[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = self._connect()
        if len(queries) == 1:
            statement, parameters = queries[0]
            return [self._connection.execute(statement.postgres, parameters).fetchall()]
        with self._connection.pipeline():
            cursors = [
                self._connection.execute(statement.postgres, parameters)
                for statement, parameters in queries
            ]
            return [cursor.fetchall() for cursor in cursors]
