"""P1's denominator: the rows of a decision inserted raw, by group commit, with nothing around it.

All rows that a decision leaves: the decision, its payload and vector, and where it goes to a
person its item of the queue, the line by which that is found, and the notice of it. The same
tables, indexes, triggers and settings as the store's, the same number of decisions per commit; but
no event loop, no hashing, no reading, no counts, no answer to anyone: `executemany` in one thread,
on PostgreSQL in the driver's pipeline, so that a batch is one round trip.

Run: python benchmarks/raw_insert.py [--store sqlite|postgres|both] [--quick] [--json]
to compare `ledger.append` from 64 callers with it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sqlite3
import statistics
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import psycopg
from figures import hand_out
from page import Section
from stores import TITLES, Stores, add_store_option, chosen, file_of, stores

from sureline.adapters.storage.line_rows import review_lines
from sureline.adapters.storage.outbox_rows import notices
from sureline.adapters.storage.review_rows import reviews
from sureline.adapters.storage.sqlite_database import PRAGMAS
from sureline.adapters.storage.store import open_store
from sureline.application.ports.ledger import DecisionRecord
from sureline.core.values.stratum import Fold, Stratum

CALLERS = 64
STRATUM = Stratum(attempt=1, propensity=1.0, representative=True, judged=False, fold=Fold.HOLD)
OF_PLACE = ("decisions", "payloads", "vectors")
"""Tables with a row of a decision under its stream and place, the first two columns."""
OF_ID = {"reviews": "decision_id", "review_lines": "id", "notices": "decision_id"}
"""Tables with a row of a decision under its workspace, the first column, and this one."""
_ID = 4
"""Where a decision's id stands."""

Rows = dict[str, list[tuple[object, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRun:
    """How many decisions were inserted, and how many seconds that took."""

    decisions: int
    seconds: float

    @property
    def per_second(self) -> float:
        return self.decisions / self.seconds


def raw_insert(stored: str, target: str, *, per_commit: int = CALLERS) -> RawRun:
    """Insert the decisions that are stored in `stored` into the new store `target`, raw.

    The rows are read before the clock starts, so that both sides write exactly the same bytes.
    """
    rows = read_rows(stored)
    batches = list(_batches(rows, per_commit))
    insert = _in_file if target.startswith("sqlite:") else _in_database
    return RawRun(decisions=len(rows["decisions"]), seconds=insert(target, batches))


def _in_file(target: str, batches: Sequence[Rows]) -> float:
    connection = sqlite3.connect(file_of(target), isolation_level=None)
    for pragma in PRAGMAS:
        connection.execute(pragma)
    start = time.perf_counter()
    for batch in batches:
        connection.execute("BEGIN IMMEDIATE")
        for table, rows in batch.items():
            connection.executemany(insertion(table, rows, "?"), rows)
        connection.execute("COMMIT")
    seconds = time.perf_counter() - start
    connection.close()
    return seconds


def _in_database(target: str, batches: Sequence[Rows]) -> float:
    with psycopg.connect(target, autocommit=True, prepare_threshold=1) as connection:
        start = time.perf_counter()
        for batch in batches:
            insert_batch(connection, batch)
        return time.perf_counter() - start


def insert_batch(connection: psycopg.Connection[tuple[object, ...]], batch: Rows) -> None:
    """Insert a batch in one transaction and one round trip."""
    with connection.pipeline():
        connection.execute("BEGIN")
        for table, rows in batch.items():
            connection.cursor().executemany(insertion(table, rows, "%s").encode(), rows)
        connection.execute("COMMIT")


def insertion(table: str, rows: Sequence[tuple[object, ...]], mark: str) -> str:
    """Return the statement that inserts rows of a table."""
    return f"INSERT INTO {table} VALUES ({','.join([mark] * len(rows[0]))})"


def read_rows(stored: str) -> Rows:
    """Return the rows that belong to decisions, by table, in the order they were written."""
    if stored.startswith("sqlite:"):
        file = sqlite3.connect(file_of(stored))
        rows = {table: file.execute(query).fetchall() for table, query in _queries().items()}
        file.close()
        return rows
    with psycopg.connect(stored) as connection:
        return {
            table: connection.execute(query.encode()).fetchall()
            for table, query in _queries().items()
        }


def _queries() -> dict[str, str]:
    """Return what reads each table's rows, one for each decision at most, in their order."""
    join = "SELECT t.* FROM decisions d JOIN {} t ON {} ORDER BY d.stream, d.seq"
    by_place = "t.stream = d.stream AND t.seq = d.seq"
    by_id = "t.workspace = d.workspace AND t.{} = d.id"
    return {
        **{table: join.format(table, by_place) for table in OF_PLACE},
        **{table: join.format(table, by_id.format(column)) for table, column in OF_ID.items()},
    }


def _batches(rows: Rows, per_commit: int) -> Iterator[Rows]:
    """Yield the rows of so many decisions at a time."""
    decided, columns = rows["decisions"], _columns()
    by_key: dict[str, dict[object, list[tuple[object, ...]]]] = {}
    for table, found in rows.items():
        for row in found:
            key = row[:2] if table in OF_PLACE else row[columns[table]]
            by_key.setdefault(table, {}).setdefault(key, []).append(row)
    for first in range(0, len(decided), per_commit):
        part = decided[first : first + per_commit]
        batch = {
            table: [
                one
                for row in part
                for one in known.get(row[:2] if table in OF_PLACE else row[_ID], ())
            ]
            for table, known in by_key.items()
        }
        yield {table: rows for table, rows in batch.items() if rows}


def _columns() -> dict[str, int]:
    """Return where the decision's id stands in the tables that have it."""
    tables = {one.name: one for one in (reviews, review_lines, notices)}
    return {name: tables[name].c.keys().index(column) for name, column in OF_ID.items()}


def sample_records(count: int) -> list[DecisionRecord]:
    """Make decisions of a usual size: 1.2 kB body, 0.8 kB answer, 1 kB request, 256 floats."""
    return [
        DecisionRecord(
            id=os.urandom(16).hex(),
            workspace="default",
            slice_key=f"slice-{number % 3}",
            route="human_review",
            would_route=None,
            mode="route",
            score=0.5,
            score_bin=5000,
            audit=False,
            failed=False,
            submitted_by=None,
            propensity=1.0,
            attempt=1,
            stratum=STRATUM,
            policy_hash="ab" * 32,
            measurement_hash="cd" * 32,
            batch_id=None,
            content_digest=os.urandom(32),
            task_digest=os.urandom(32),
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
            body=b"{" + os.urandom(599).hex().encode() + b"}",
            answer=b"a" * 800,
            request=b"r" * 1000,
            vector=os.urandom(1024),
            model_id="hashing/1",
        )
        for number in range(count)
    ]


async def append_all(url: str, records: Sequence[DecisionRecord], *, callers: int) -> float:
    """Append the records through the ledger from `callers` tasks; return the seconds."""
    store = open_store(url)
    waiting = iter(records)

    async def call() -> None:
        for record in waiting:
            await store.ledger.append(record)

    start = time.perf_counter()
    await asyncio.gather(*(call() for _ in range(callers)))
    seconds = time.perf_counter() - start
    store.close()
    return seconds


def compare(made: Stores, count: int, rounds: int) -> list[tuple[float, float]]:
    """Return (append, raw) decisions per second, side by side, once per round."""
    results = []
    for _ in range(rounds):
        records = sample_records(count)
        ours, target = made.fresh(), made.fresh()
        seconds = asyncio.run(append_all(ours, records, callers=CALLERS))
        results.append((count / seconds, raw_insert(ours, target).per_second))
        made.drop(ours)
        made.drop(target)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer decisions and rounds")
    parser.add_argument("--json", action="store_true")
    add_store_option(parser)
    given = parser.parse_args()
    count, rounds = (1_280, 1) if given.quick else (6_400, 5)
    began, rows = time.perf_counter(), []
    for kind in chosen(given.store):
        with stores(kind) as made:
            results = compare(made, count, rounds)
        append, raw = (statistics.median(one) for one in zip(*results, strict=True))
        ratio = statistics.median(ours / bare for ours, bare in results)
        rows.append((TITLES[kind], f"{append:,.0f}", f"{raw:,.0f}", f"{ratio:.2f}"))
    table = Section(
        title="Appending to the ledger, beside bare inserts",
        note=f"{count:,} decisions from {CALLERS} callers, commits of {CALLERS}; median of "
        f"{rounds} rounds.",
        heading=("store", "append/s", "raw/s", "ratio"),
        rows=tuple(rows),
    )
    hand_out([table], as_json=given.json, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    main()
