"""P1's denominator: the rows of a decision inserted raw, by group commit, with nothing around it.

The same tables, indexes, triggers and settings as the store's, the same number of rows per
commit; but no event loop, no hashing, no reading, no answer to anyone: `sqlite3.executemany` in
one thread.

Run `python benchmarks/raw_insert.py` to compare `ledger.append` from 64 callers with it.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sureline.adapters.storage.sqlite_database import PRAGMAS
from sureline.adapters.storage.store import open_store
from sureline.application.ports.ledger import DecisionRecord
from sureline.core.values.stratum import Fold, Stratum

CALLERS = 64
STRATUM = Stratum(attempt=1, propensity=1.0, representative=True, judged=False, fold=Fold.HOLD)
_TABLES = ("decisions", "payloads", "vectors")


@dataclass(frozen=True, slots=True, kw_only=True)
class RawRun:
    """How many decisions were inserted, and how many seconds that took."""

    decisions: int
    seconds: float

    @property
    def per_second(self) -> float:
        return self.decisions / self.seconds


def raw_insert(stored: Path, target: Path, *, per_commit: int = CALLERS) -> RawRun:
    """Insert the decisions that are stored in `stored` into a new store at `target`, raw.

    The rows are read before the clock starts, so that both sides write exactly the same bytes.
    """
    rows = read_rows(stored)
    open_store(f"sqlite:///{target}").close()
    connection = sqlite3.connect(target, isolation_level=None)
    for pragma in PRAGMAS:
        connection.execute(pragma)
    batches = list(_batches(rows, per_commit))
    statements = {
        table: f"INSERT INTO {table} VALUES ({','.join('?' * len(rows[table][0]))})"
        for table in _TABLES
        if rows[table]
    }
    start = time.perf_counter()
    for batch in batches:
        connection.execute("BEGIN IMMEDIATE")
        for table, statement in statements.items():
            connection.executemany(statement, batch[table])
        connection.execute("COMMIT")
    seconds = time.perf_counter() - start
    connection.close()
    return RawRun(decisions=len(rows["decisions"]), seconds=seconds)


def read_rows(stored: Path) -> dict[str, list[tuple[object, ...]]]:
    """Return the rows that belong to decisions, by table, in the order they were written."""
    connection = sqlite3.connect(stored)
    rows = {
        table: connection.execute(
            f"SELECT * FROM {table} WHERE seq IN (SELECT seq FROM decisions) ORDER BY seq"
        ).fetchall()
        for table in _TABLES
    }
    connection.close()
    return rows


def _batches(
    rows: dict[str, list[tuple[object, ...]]], per_commit: int
) -> Iterator[dict[str, list[tuple[object, ...]]]]:
    by_seq = {table: {row[1]: row for row in rows[table]} for table in _TABLES}
    places = [row[1] for row in rows["decisions"]]
    for first in range(0, len(places), per_commit):
        part = places[first : first + per_commit]
        yield {
            table: [by_seq[table][seq] for seq in part if seq in by_seq[table]] for table in _TABLES
        }


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


async def append_all(path: Path, records: Sequence[DecisionRecord], *, callers: int) -> float:
    """Append the records through the ledger from `callers` tasks; return the seconds."""
    store = open_store(f"sqlite:///{path}")
    waiting = iter(records)

    async def call() -> None:
        for record in waiting:
            await store.ledger.append(record)

    start = time.perf_counter()
    await asyncio.gather(*(call() for _ in range(callers)))
    seconds = time.perf_counter() - start
    store.close()
    return seconds


def compare(count: int, rounds: int) -> list[tuple[float, float]]:
    """Return (append, raw) decisions per second, side by side, once per round."""
    results = []
    for _ in range(rounds):
        records = sample_records(count)
        with tempfile.TemporaryDirectory() as folder:
            ours = Path(folder, "ours.db")
            seconds = asyncio.run(append_all(ours, records, callers=CALLERS))
            raw = raw_insert(ours, Path(folder, "raw.db"))
        results.append((count / seconds, raw.per_second))
    return results


def main() -> None:
    results = compare(6_400, 5)
    for ours, raw in results:
        print(f"append {ours:8.0f}/s   raw {raw:8.0f}/s   ratio {ours / raw:.2f}")
    print(f"median ratio {statistics.median(ours / raw for ours, raw in results):.2f}")


if __name__ == "__main__":
    main()
