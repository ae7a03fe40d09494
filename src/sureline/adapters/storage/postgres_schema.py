"""Brings a PostgreSQL database to the tables that this version knows.

Several processes may come at once: one of them upgrades under an advisory lock, in one transaction,
the others wait for it and find nothing left to do.
"""

from __future__ import annotations

import os

import psycopg

from sureline.adapters.storage.migrating import (
    Allowed,
    Prepared,
    check_revision,
    known_revisions,
    migrate,
)
from sureline.adapters.storage.postgres_driver import LOCKS, MIGRATION_LOCK, Connection
from sureline.adapters.storage.schema_programs import PROGRAMS, REMEDY, compare_schema
from sureline.adapters.storage.tables import SCHEMA_REVISION
from sureline.errors import StoreCorrupt, StoreReadOnly, StoreUnavailable

SECRET_BYTES = 32
OLDEST_SERVER = 14
"""The oldest PostgreSQL that the tests have seen work or that is still maintained."""


def prepare(connection: Connection, where: str, *, allowed: Allowed, to_write: bool) -> Prepared:
    """Create or upgrade the tables where that is allowed.

    `connection` is in autocommit mode. Raises StoreCorrupt for another program's tables,
    StoreTooNew, StoreTooOld, StoreUnavailable for a server that is too old or no store;
    StoreReadOnly where nothing can be written, if something is to be, or must be to use it.
    """
    version = connection.info.server_version // 10_000
    if version < OLDEST_SERVER:
        raise StoreUnavailable(
            f"{where} is PostgreSQL {version}; sureline needs {OLDEST_SERVER} or later"
        )
    found = _found(connection, where)
    is_current = found == SCHEMA_REVISION
    if _is_read_only(connection) and (to_write or not is_current):
        raise StoreReadOnly(f"{where} can only be read (a standby?); connect to the primary")
    if to_write or not is_current:
        for fault in compare_schema(connection.execute(PROGRAMS.postgres).fetchall()).foreign:
            raise StoreCorrupt(f"{where}: {fault}; {REMEDY}")
    migrated, before = False, None
    if not is_current:
        allowed.check(where, found, SCHEMA_REVISION)
        migrated, before = _upgrade(connection, where)
    return Prepared(secret=_secret(connection, where), migrated=migrated, before=before)


def check_schema(connection: Connection, where: str) -> None:
    """Refuse a connection to tables of another version: they may change under a process.

    Raises StoreTooNew, StoreTooOld, StoreCorrupt, psycopg.Error.
    """
    try:
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except psycopg.errors.UndefinedTable as error:
        raise StoreCorrupt(f"{where} has lost its tables; restore it from a backup") from error
    check_found(where, None if row is None else row[0])


def check_found(where: str, found: str | None) -> None:
    """Refuse what was read as the revision. Raises StoreTooNew, StoreTooOld, StoreCorrupt."""
    if found is None:
        raise StoreCorrupt(f"{where} has lost its schema's version; restore it from a backup")
    check_revision(where, found, SCHEMA_REVISION)


def _is_read_only(connection: Connection) -> bool:
    row = connection.execute("SELECT current_setting('transaction_read_only')").fetchone()
    return row == ("on",)


def _secret(connection: Connection, where: str) -> bytes:
    row = connection.execute("SELECT value FROM meta WHERE name = 'secret'").fetchone()
    if row is None:
        raise StoreCorrupt(f"{where} has lost its secret; restore it from a backup")
    return bytes(row[0])


def _is_empty(connection: Connection) -> bool:
    row = connection.execute("SELECT to_regclass('alembic_version'), to_regclass('meta')")
    return row.fetchone() == (None, None)


def _found(connection: Connection, where: str) -> str | None:
    """Return the revision of the tables, None: no tables. Raises StoreCorrupt, StoreTooNew."""
    if _is_empty(connection):
        return None
    try:
        connection.execute("SELECT value FROM meta WHERE name = 'secret'")
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn) as error:
        raise StoreCorrupt(
            f"{where} has tables of another program, not a sureline store; choose another "
            f"database or schema"
        ) from error
    revision = None if row is None else str(row[0])
    if revision is None or (revision != SCHEMA_REVISION and revision not in known_revisions()):
        check_found(where, revision)
    return revision


def _upgrade(connection: Connection, where: str) -> tuple[bool, str | None]:
    """Run the missing migrations in one transaction, unless another process just did.

    Returns whether there were any, and the revision before.
    """
    from sqlalchemy import create_engine
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.pool import StaticPool

    engine = create_engine(
        "postgresql+psycopg://", creator=lambda: connection, poolclass=StaticPool
    )
    connection.autocommit = False
    try:
        with engine.connect() as migrating, migrating.begin():
            # Waited for however long it takes: a migration of a large store is no fault.
            connection.execute("SET LOCAL lock_timeout = 0")
            connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", (LOCKS, MIGRATION_LOCK))
            before = _found(connection, where)
            if before != SCHEMA_REVISION:
                migrate(migrating)
                connection.execute(
                    "INSERT INTO meta (name, value) VALUES ('secret', %s) ON CONFLICT DO NOTHING",
                    (os.urandom(SECRET_BYTES),),
                )
    except DBAPIError as error:
        raise error.orig or error from error
    finally:
        connection.autocommit = True
    return before != SCHEMA_REVISION, before
