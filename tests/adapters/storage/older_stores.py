"""Stores as an earlier version left them: its tables, with the rows of a store that works."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from sqlalchemy import Connection, Table, create_engine, inspect, select
from sqlalchemy.pool import StaticPool

from sureline.adapters.storage import schema
from sureline.adapters.storage.columns import metadata
from sureline.adapters.storage.migrating import migrate
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.store import Store, open_store
from sureline.adapters.storage.tables import SCHEMA_REVISION
from sureline.application.ports.registry import Activation
from sureline.core.values.outcome import Action
from tests.adapters.storage.samples import NOON, outcome, record, switch

REVISIONS = [f"{number:04}" for number in range(1, int(SCHEMA_REVISION) + 1)]
DECISIONS = 6


async def fill(store: Store) -> None:
    """Write rows of many kinds: labels, a switch, what is active, an erasure."""
    for number in range(1, DECISIONS + 1):
        await store.ledger.append(record(number))
    await store.ledger.record_outcome(outcome("o1", "d2", comment="about Acme"))
    await store.ledger.record_outcome(outcome("o2", "d1", action=Action.REJECT, correct=False))
    await store.ledger.set_switch(switch())
    await store.registry.propose_policy("p" * 64, '{"version": 1}', NOON)
    await store.registry.activate(
        Activation(workspace="default", kind="policy", subject="p" * 64, by="kim", at=NOON)
    )
    await store.ledger.consume("default", "d4", NOON)
    await store.ledger.erase("default", "d3", by="kim", reason="asked", at=NOON)


@contextmanager
def connected(url: str) -> Iterator[Connection]:
    """Open a transaction of SQLAlchemy on a database of either kind."""
    if url.startswith("sqlite"):
        raw: Any = sqlite3.connect(url.removeprefix("sqlite:///"), isolation_level=None)
        engine = create_engine("sqlite://", creator=lambda: raw, poolclass=StaticPool)
    else:
        raw = psycopg.connect(url)
        engine = create_engine("postgresql+psycopg://", creator=lambda: raw, poolclass=StaticPool)
    with engine.connect() as connection, connection.begin():
        if url.startswith("sqlite"):
            raw.execute("BEGIN IMMEDIATE")
        yield connection
    raw.close()


async def older_store(url: str, revision: str, *, like: str = "sqlite://") -> Store:
    """Make a store of a revision at `url`; return the one at `like` that its rows are of.

    What later tables hold is left out, as are columns that the revision does not have.
    """
    source = open_store(like)
    await fill(source)
    await source.ledger.seal(NOON)
    with connected(url) as connection:
        migrate(connection, to=revision)
        for table in metadata.sorted_tables:
            _copy(source, connection, table)
        if url.startswith("sqlite"):
            connection.exec_driver_sql(f"PRAGMA application_id = {schema.APPLICATION_ID}")
    return source


def _copy(source: Store, connection: Connection, table: Table) -> None:
    inspector = inspect(connection)
    if not inspector.has_table(table.name):
        return
    there = {column["name"] for column in inspector.get_columns(table.name)}
    columns = [column for column in table.columns if column.name in there]
    with source.database.snapshot() as each:
        rows = [
            dict(zip((column.name for column in columns), row, strict=True))
            for row in each(compiled(select(*columns)), ())
        ]
    if rows:
        connection.execute(table.insert(), rows)
