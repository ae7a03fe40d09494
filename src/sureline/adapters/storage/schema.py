"""Brings a SQLite file to the tables that this version knows.

Several processes may open one file at once: one of them upgrades under the
write lock, the others wait for it and find nothing left to do.
"""

from __future__ import annotations

import os
import sqlite3
import time

from sureline.adapters.storage.migrating import known_revisions, migrate
from sureline.adapters.storage.tables import SCHEMA_REVISION
from sureline.errors import StoreCorrupt, StoreReadOnly, StoreTooNew

APPLICATION_ID = 0x53524C4E
"""Marks a SQLite file as a sureline store ("SRLN")."""

SECRET_BYTES = 32


def prepare(connection: sqlite3.Connection, where: str, *, patience: float) -> bytes:
    """Create or upgrade the tables, switch to write-ahead logging, return the store's secret.

    `connection` is in autocommit mode; `patience` is in seconds. Raises StoreCorrupt for another
    program's database, StoreTooNew, sqlite3.Error.
    """
    if not _is_current(connection, where):
        _upgrade(connection, where)
    _log_ahead(connection, patience)
    return _secret(connection, where)


def secret_of(connection: sqlite3.Connection, where: str) -> bytes:
    """Return the secret of a store that can only be read. Raises as `prepare` does, StoreReadOnly.

    Nothing can be created or upgraded there.
    """
    if not _is_current(connection, where):
        raise StoreReadOnly(
            f"{where} needs this sureline's tables, but it is read-only; open a copy that can be "
            f"written"
        )
    return _secret(connection, where)


def _secret(connection: sqlite3.Connection, where: str) -> bytes:
    row = connection.execute("SELECT value FROM meta WHERE name = 'secret'").fetchone()
    if row is None or not isinstance(row[0], bytes):
        raise StoreCorrupt(f"{where} has lost its secret; restore it from a backup")
    return row[0]


def _is_current(connection: sqlite3.Connection, where: str) -> bool:
    """Tell whether the tables are this version's. Raises StoreCorrupt, StoreTooNew."""
    if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
        return False
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreCorrupt(
            f"{where} is a database of another program, not a sureline store; choose another file"
        )
    revision = _revision(connection)
    if revision == SCHEMA_REVISION:
        return True
    if revision is None:
        raise StoreCorrupt(f"{where} has lost its schema's version; restore it from a backup")
    if revision not in known_revisions():
        raise StoreTooNew(
            f"{where} has schema {revision}, but this sureline knows only {SCHEMA_REVISION}: "
            f"install the newer sureline; nothing was written"
        )
    return False


def _revision(connection: sqlite3.Connection) -> str | None:
    try:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:  # not "no such table"
            raise
        return None
    return None if row is None else str(row[0])


def _upgrade(connection: sqlite3.Connection, where: str) -> None:
    """Run the missing migrations in one transaction, unless another process just did."""
    from sqlalchemy import create_engine
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.pool import StaticPool

    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    try:
        # SQLAlchemy's own "begin" sends nothing to SQLite; ours takes the write lock.
        with engine.connect() as migrating, migrating.begin():
            connection.execute("BEGIN IMMEDIATE")
            if not _is_current(connection, where):
                migrate(migrating)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(
                    "INSERT INTO meta (name, value) VALUES ('secret', ?) ON CONFLICT DO NOTHING",
                    (os.urandom(SECRET_BYTES),),
                )
    except DBAPIError as error:
        raise error.orig or error from error


def _log_ahead(connection: sqlite3.Connection, patience: float) -> None:
    """Switch to write-ahead logging; the file remembers it, so only the first one waits.

    SQLite answers "busy" at once while another process makes the same switch.
    """
    deadline = time.monotonic() + patience
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return
