"""Creates a store."""

from __future__ import annotations

import os
import sqlite3

from sqlalchemy.schema import CreateIndex, CreateTable

from sureline.adapters.storage.append_only import refusals
from sureline.adapters.storage.statement import SQLITE
from sureline.adapters.storage.tables import APPEND_ONLY, metadata


def prepare(connection: sqlite3.Connection) -> bytes:
    """Create the tables if there are none and return the store's secret."""
    connection.execute("BEGIN IMMEDIATE")
    if not connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchall():
        for table in metadata.sorted_tables:
            connection.execute(str(CreateTable(table).compile(dialect=SQLITE)))
            for index in table.indexes:
                connection.execute(str(CreateIndex(index).compile(dialect=SQLITE)))
        for table in APPEND_ONLY:
            for trigger in refusals(table.name):
                connection.execute(trigger)
        connection.execute("INSERT INTO meta VALUES ('secret', ?)", (os.urandom(32),))
    row = connection.execute("SELECT value FROM meta WHERE name = 'secret'").fetchone()
    connection.execute("COMMIT")
    return bytes(row[0])
