"""Brings a SQLite file to the tables that this version knows.

Several processes may open one file at once: one of them upgrades under the
write lock, the others wait for it and find nothing left to do.
"""

from __future__ import annotations

import os
import sqlite3
import time

from sureline.adapters.storage.migrating import (
    Allowed,
    Prepared,
    check_revision,
    known_revisions,
    migrate,
)
from sureline.adapters.storage.schema_programs import PROGRAMS, REMEDY, compare_schema
from sureline.adapters.storage.tables import SCHEMA_REVISION
from sureline.errors import StoreCorrupt, StoreReadOnly

APPLICATION_ID = 0x53524C4E
"""Marks a SQLite file as a sureline store ("SRLN")."""

SECRET_BYTES = 32


def prepare(
    connection: sqlite3.Connection, where: str, *, patience: float, allowed: Allowed
) -> Prepared:
    """Create or upgrade the tables where that is allowed, and switch to write-ahead logging.

    `connection` is in autocommit mode; `patience` is in seconds. Raises StoreCorrupt for another
    program's database, StoreUnavailable for none, StoreTooNew, StoreTooOld, sqlite3.Error.
    """
    found = _found(connection, where)
    migrated, before = False, None
    if found != SCHEMA_REVISION:
        allowed.check(where, found, SCHEMA_REVISION)
        migrated, before = _upgrade(connection, where)
    _log_ahead(connection, patience)
    return Prepared(secret=_secret(connection, where), migrated=migrated, before=before)


def secret_of(connection: sqlite3.Connection, where: str) -> bytes:
    """Return the secret of a store that can only be read. Raises as `prepare` does, StoreReadOnly.

    Nothing can be created or upgraded there.
    """
    if _found(connection, where) != SCHEMA_REVISION:
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


def _found(connection: sqlite3.Connection, where: str) -> str | None:
    """Return the revision of the tables, None: no tables. Raises StoreCorrupt, StoreTooNew."""
    if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is None:
        return None
    if connection.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
        raise StoreCorrupt(
            f"{where} is a database of another program, not a sureline store; choose another file"
        )
    for fault in compare_schema(connection.execute(PROGRAMS.sql).fetchall()).foreign:
        raise StoreCorrupt(f"{where}: {fault}; {REMEDY}")
    revision = _revision(connection)
    if revision is None:
        raise StoreCorrupt(f"{where} has lost its schema's version; restore it from a backup")
    if revision != SCHEMA_REVISION and revision not in known_revisions():
        check_revision(where, revision, SCHEMA_REVISION)
    return revision


def _revision(connection: sqlite3.Connection) -> str | None:
    try:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_ERROR:  # not "no such table"
            raise
        return None
    return None if row is None else str(row[0])


def _upgrade(connection: sqlite3.Connection, where: str) -> tuple[bool, str | None]:
    """Run the missing migrations in one transaction, unless another process just did.

    Returns whether there were any, and the revision before.
    """
    from sqlalchemy import create_engine
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.pool import StaticPool

    engine = create_engine("sqlite://", creator=lambda: connection, poolclass=StaticPool)
    try:
        # SQLAlchemy's own "begin" sends nothing to SQLite; ours takes the write lock.
        with engine.connect() as migrating, migrating.begin():
            connection.execute("BEGIN IMMEDIATE")
            before = _found(connection, where)
            if before != SCHEMA_REVISION:
                migrate(migrating)
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(
                    "INSERT INTO meta (name, value) VALUES ('secret', ?) ON CONFLICT DO NOTHING",
                    (os.urandom(SECRET_BYTES),),
                )
    except DBAPIError as error:
        raise error.orig or error from error
    return before != SCHEMA_REVISION, before


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
