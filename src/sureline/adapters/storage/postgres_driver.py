"""A PostgreSQL connection as what a transaction works on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import psycopg
from psycopg import errors
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict
from psycopg.pq import Format

from sureline.adapters.storage.postgres_text import keep_any_text
from sureline.adapters.storage.statement import Statement
from sureline.adapters.storage.transaction import COMMON_STREAM

LOCKS = 0x53524C4E
"""The class of all advisory locks of a store ("SRLN"); 0 is the write lock, n a writer's stream."""
WRITE_LOCK = 0
MIGRATION_LOCK = -1

GRACE = 1.0
"""So many seconds later than the server should have given up, its answer is no longer waited for.
"""
IDLE_SECONDS = 20.0
"""The server ends a transaction in which nothing came for so long: its writer is gone."""
KEEP_ALIVE: dict[str, Any] = {
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
"""So that a line that was cut without a word is noticed (libpq); the address may say otherwise."""

Value = TypeVar("Value")


class NoAnswer(psycopg.OperationalError):
    """The server did not answer in time; whether it did what it was asked is not known."""


class Connection(psycopg.Connection[tuple[Any, ...]]):
    """A connection that does not wait for ever.

    After `answer_seconds` without an answer, None: never, `silent` is told and it ends.
    """

    answer_seconds: float | None = None
    silent: Callable[[psycopg.Error], None] | None = None

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        """Wait for an answer, as psycopg asks for all of them."""
        if timeout is not None or self.answer_seconds is None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.answer_seconds)
        except errors._WaitTimeout:
            self.pgconn.finish()
            error = NoAnswer(f"no answer for {self.answer_seconds:g} seconds")
        if self.silent is not None:
            self.silent(error)
        raise error

    def allow(self, seconds: float | None) -> None:
        """Let single statements take so long, None: as long as it takes. Raises psycopg.Error."""
        milliseconds = f"{(seconds or 0) * 1000:.0f}"
        self.execute("SELECT set_config('statement_timeout', %s, false)", (milliseconds,))
        self.answer_seconds = None if seconds is None else seconds + GRACE


class _WholeNumbers(Loader):
    """Sums of whole numbers are `numeric` there; they are whole numbers here."""

    format = Format.TEXT

    def load(self, data: Any) -> int | float:
        text = bytes(data)
        return int(text) if text.lstrip(b"-").isdigit() else float(text)


def connect(url: str, *, patience: float, longest: float | None = None) -> Connection:
    """Open a connection in autocommit mode; `patience` is how many seconds locks are waited for.

    One statement may take `longest` seconds, None: as long as it takes. Raises psycopg.Error.
    """
    given = {
        **KEEP_ALIVE,
        **conninfo_to_dict(url),
        "connect_timeout": max(1, round(patience)),
        "application_name": "sureline",
    }
    connection = Connection.connect(autocommit=True, prepare_threshold=1, **given)
    connection.answer_seconds = patience + GRACE
    try:
        _settle(connection, patience, longest)
    except BaseException:
        connection.close()
        raise
    connection.answer_seconds = None if longest is None else longest + GRACE
    return connection


def _settle(connection: Connection, patience: float, longest: float | None) -> None:
    """Set what every connection needs, whatever the server's defaults are."""
    connection.adapters.register_loader("numeric", _WholeNumbers)
    keep_any_text(connection.adapters)
    idle = max(IDLE_SECONDS, 2 * patience)
    connection.execute(
        "SELECT set_config('lock_timeout', %s, false), set_config('synchronous_commit', "
        "CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' "
        "ELSE current_setting('synchronous_commit') END, false), "
        "set_config('idle_in_transaction_session_timeout', %s, false), "
        "set_config('statement_timeout', %s, false)",
        tuple(f"{max(0, round(seconds * 1000))}" for seconds in (patience, idle, longest or 0)),
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
