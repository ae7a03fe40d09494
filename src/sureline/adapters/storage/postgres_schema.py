"""Brings a PostgreSQL database to the tables that this version knows.

Several processes may come at once: one of them upgrades under an advisory lock, in one transaction,
the others wait for it and find nothing left to do.
"""

from __future__ import annotations

import os

import psycopg

from sureline.adapters.storage.migrating import known_revisions, migrate
from sureline.adapters.storage.postgres_driver import LOCKS, MIGRATION_LOCK, Connection
from sureline.adapters.storage.tables import SCHEMA_REVISION
from sureline.errors import StoreCorrupt, StoreReadOnly, StoreTooNew, StoreUnavailable

SECRET_BYTES = 32
OLDEST_SERVER = 14
"""The oldest PostgreSQL that the tests have seen work or that is still maintained."""


def prepare(connection: Connection, where: str, *, create: bool, to_write: bool) -> bytes:
    """Create or upgrade the tables and return the store's secret.

    `connection` is in autocommit mode. Raises StoreCorrupt for another program's tables,
    StoreTooNew, StoreUnavailable for a server that is too old or, without `create`, no store;
    StoreReadOnly where nothing can be written, if something is to be, or must be to use it.
    """
    version = connection.info.server_version // 10_000
    if version < OLDEST_SERVER:
        raise StoreUnavailable(
            f"{where} is PostgreSQL {version}; sureline needs {OLDEST_SERVER} or later"
        )
    is_current = _is_current(connection, where)
    if _is_read_only(connection) and (to_write or not is_current):
        raise StoreReadOnly(f"{where} can only be read (a standby?); connect to the primary")
    if not is_current:
        if not create and _is_empty(connection):
            raise StoreUnavailable(f"{where}: there is no store; look for a typing error")
        _upgrade(connection, where)
    return _secret(connection, where)


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


def _is_current(connection: Connection, where: str) -> bool:
    """Tell whether the tables are this version's. Raises StoreCorrupt, StoreTooNew."""
    if _is_empty(connection):
        return False
    try:
        connection.execute("SELECT value FROM meta WHERE name = 'secret'")
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn) as error:
        raise StoreCorrupt(
            f"{where} has tables of another program, not a sureline store; choose another "
            f"database or schema"
        ) from error
    if row is None:
        raise StoreCorrupt(f"{where} has lost its schema's version; restore it from a backup")
    if row[0] == SCHEMA_REVISION:
        return True
    if row[0] not in known_revisions():
        raise StoreTooNew(
            f"{where} has schema {row[0]}, but this sureline knows only {SCHEMA_REVISION}: "
            f"install the newer sureline; nothing was written"
        )
    return False


def _upgrade(connection: Connection, where: str) -> None:
    """Run the missing migrations in one transaction, unless another process just did."""
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
            if not _is_current(connection, where):
                migrate(migrating)
                connection.execute(
                    "INSERT INTO meta (name, value) VALUES ('secret', %s) ON CONFLICT DO NOTHING",
                    (os.urandom(SECRET_BYTES),),
                )
    except DBAPIError as error:
        raise error.orig or error from error
    finally:
        connection.autocommit = True
