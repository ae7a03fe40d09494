"""Rows and bytes a decision leaves in each table, measured on a store."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import psycopg
from scale_constants import CALLERS, decide_all, open_gate, receipts
from stores import Databases, Stores, file_of

_ON_SQLITE = """
SELECT coalesce(m.tbl_name, s.name), sum(s.pgsize) FROM dbstat s
LEFT JOIN sqlite_master m ON m.name = s.name GROUP BY 1
"""
_ON_POSTGRES = """
SELECT c.relname, pg_total_relation_size(c.oid) FROM pg_class c
WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What is in a table, its indexes included, a decision."""

    rows: float
    size: float


def sizes(made: Stores, folder: Path, variant: str, count: int) -> Mapping[str, Size]:
    """Store `count` receipts and return what each table has grown by, divided by them."""
    store = made.fresh()

    async def fill() -> None:
        async with open_gate(store, folder, variant) as gate:
            # Something first: a table's first pages are not what the next decision costs.
            await decide_all(gate, receipts(count // 4, "before"), CALLERS)
        before = _tables(store)
        async with open_gate(store, folder, variant) as gate:
            await decide_all(gate, receipts(count, "then"), CALLERS)
        told.update(_grown(before, _tables(store), count))

    told: dict[str, Size] = {}
    asyncio.run(fill())
    made.drop(store)
    assert isinstance(made, Databases) or made.kind == "sqlite"
    return told


def _grown(
    before: Mapping[str, tuple[int, int]], after: Mapping[str, tuple[int, int]], count: int
) -> dict[str, Size]:
    found = {}
    for name, (rows, size) in after.items():
        old_rows, old_size = before.get(name, (0, 0))
        one = Size(rows=(rows - old_rows) / count, size=(size - old_size) / count)
        if one.rows > 0.01 or one.size > 1:
            found[name] = one
    return found


def _tables(store: str) -> dict[str, tuple[int, int]]:
    """Return rows and bytes by table."""
    if store.startswith("sqlite"):
        file = sqlite3.connect(file_of(store))
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        found = {
            name: (_rows(file, name), int(size))
            for name, size in file.execute(_ON_SQLITE).fetchall()
            if not name.startswith("sqlite_")
        }
        file.close()
        return found
    with psycopg.connect(store, autocommit=True) as connection:
        return {
            name: (
                int(connection.execute(f'SELECT count(*) FROM "{name}"'.encode()).fetchone()[0]),  # type: ignore[index]
                int(size),
            )
            for name, size in connection.execute(_ON_POSTGRES.encode()).fetchall()
        }


def _rows(file: sqlite3.Connection, name: str) -> int:
    return int(file.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0])
