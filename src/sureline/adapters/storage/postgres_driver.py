"""A PostgreSQL connection as what a transaction works on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
from psycopg.adapt import Loader
from psycopg.pq import Format

from sureline.adapters.storage.postgres_text import keep_any_text
from sureline.adapters.storage.statement import Statement
from sureline.adapters.storage.transaction import COMMON_STREAM

LOCKS = 0x53524C4E
"""The class of all advisory locks of a store ("SRLN"); 0 is the write lock, n a writer's stream."""
WRITE_LOCK = 0
MIGRATION_LOCK = -1

Connection = psycopg.Connection[tuple[Any, ...]]


class _WholeNumbers(Loader):
    """Sums of whole numbers are `numeric` there; they are whole numbers here."""

    format = Format.TEXT

    def load(self, data: Any) -> int | float:
        text = bytes(data)
        return int(text) if text.lstrip(b"-").isdigit() else float(text)


def connect(url: str, *, patience: float) -> Connection:
    """Open a connection in autocommit mode; `patience` is how many seconds locks are waited for.

    Raises psycopg.Error.
    """
    connection: Connection = psycopg.connect(
        url,
        autocommit=True,
        connect_timeout=max(1, round(patience)),
        application_name="sureline",
        prepare_threshold=1,
    )
    settle(connection, patience)
    return connection


def settle(connection: Connection, patience: float) -> None:
    """Set what every connection needs, whatever the server's defaults are."""
    connection.adapters.register_loader("numeric", _WholeNumbers)
    keep_any_text(connection.adapters)
    milliseconds = max(1, round(patience * 1000))
    connection.execute(
        "SELECT set_config('lock_timeout', %s, false), set_config('synchronous_commit', "
        "CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' "
        "ELSE current_setting('synchronous_commit') END, false), "
        "set_config('idle_in_transaction_session_timeout', '60000', false)",
        (f"{milliseconds}",),
    )


class PostgresDriver:
    """The port `Driver` on one connection; decisions go into the stream that it has leased."""

    common_stream = COMMON_STREAM

    def __init__(self, connection: Connection, own_stream: str) -> None:
        self._connection = connection
        self.own_stream = own_stream

    def execute(
        self, statement: Statement, parameters: Sequence[Any] = ()
    ) -> psycopg.Cursor[tuple[Any, ...]]:
        """Run one statement and return a cursor."""
        return self._connection.execute(statement.postgres, parameters)

    def executemany(
        self, statement: Statement, rows: Sequence[Sequence[Any]]
    ) -> psycopg.Cursor[tuple[Any, ...]]:
        """Run one statement for many rows, in one round trip."""
        cursor = self._connection.cursor()
        cursor.executemany(statement.postgres, rows)
        return cursor

    def each(
        self, statement: Statement, parameters: Sequence[Any] = ()
    ) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query one by one."""
        with self._connection.cursor(name="sureline_each") as cursor:
            cursor.itersize = 1_000
            cursor.execute(statement.postgres, parameters)
            yield from cursor
