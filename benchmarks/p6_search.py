"""P6: top 10 similar among 100,000 x 384. Prints medians and ratios of one run.

Run: python benchmarks/p6_search.py [--rows 100000] [--dimension 384] [--repeat 9]
"""

from __future__ import annotations

import argparse
import asyncio
import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from statistics import median
from time import perf_counter, process_time

import numpy as np
from numpy.typing import NDArray

from sureline.adapters.search.exact import ExactCaseIndex
from sureline.application.ports.cases import Neighbourhood, PastCase

QUERIES = 64
K = 10
MODEL = "benchmark"


class RandomCases:
    """A ledger's stand-in: unit vectors around a thousand centres, and their verdicts."""

    def __init__(self, rows: int, dimension: int) -> None:
        random = np.random.default_rng(6)
        centres = random.standard_normal((1000, dimension), dtype=np.float32)
        picks = random.integers(0, 1000, rows + QUERIES)
        noise = random.standard_normal((rows + QUERIES, dimension), dtype=np.float32)
        vectors = centres[picks] + noise
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        self.vectors, self.queries = vectors[:rows], vectors[rows:]

    async def cases_since(self, cursor: int, model_id: str) -> Sequence[PastCase]:
        """Return everything once."""
        return [
            PastCase(
                cursor=row + 1,
                workspace="w",
                slice_key="s",
                decision_id=str(row),
                model_id=model_id,
                vector=self.vectors[row].tobytes(),
                approved=row % 3 > 0,
            )
            for row in range(cursor, len(self.vectors))
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Milliseconds by the clock, and of processor time (which other load touches less)."""

    wall: float
    cpu: float

    @classmethod
    def median(cls, costs: Sequence[Cost]) -> Cost:
        """Return the medians."""
        return cls(wall=median(c.wall for c in costs), cpu=median(c.cpu for c in costs))


async def timed(work: Callable[[], Awaitable[object]]) -> Cost:
    """Return what `work` cost."""
    start, cpu = perf_counter(), process_time()
    await work()
    return Cost(wall=(perf_counter() - start) * 1000, cpu=(process_time() - cpu) * 1000)


def same_top(found: Neighbourhood, vectors: NDArray[np.float32], query: NDArray) -> bool:
    """Compare with sorting all cosines, computed in float64."""
    best = np.argsort(-(vectors @ query.astype(np.float64)))[:K]
    return [near.decision_id for near in found.neighbours] == [str(row) for row in best]


async def run(rows: int, dimension: int, repeat: int) -> None:
    """Measure reading, single queries and waiting queries in turn, and print the ratios."""
    cases = RandomCases(rows, dimension)
    index = ExactCaseIndex(cases, model_id=MODEL, dimension=dimension, most=rows)
    start = perf_counter()
    await index.refresh()
    print(
        f"rebuilt {rows:,} x {dimension} in {perf_counter() - start:.2f} s; load "
        f"{os.getloadavg()[0]:.2f}"
    )

    def ask(vector: NDArray[np.float32]) -> Awaitable[Neighbourhood]:
        return index.search(workspace="w", slice_key="s", vector=vector, k=K, window=rows)

    async def read() -> object:
        return cases.vectors.max()

    async def single() -> object:
        return [await ask(query) for query in cases.queries]

    async def waiting() -> object:
        return await asyncio.gather(*map(ask, cases.queries))

    await single(), await waiting()
    reads, one, singles, together = [], [], [], []
    for _ in range(repeat):
        reads.append(await timed(read))
        one.append(await timed(lambda: ask(cases.queries[0])))
        singles.append(await timed(single))
        together.append(await timed(waiting))
    report(*map(Cost.median, (reads, one, singles, together)))

    alone = [await ask(query) for query in cases.queries]
    batch = await asyncio.gather(*map(ask, cases.queries))
    exact = sum(map(same_top, alone, [cases.vectors] * QUERIES, cases.queries))
    same = sum(
        [near.decision_id for near in one.neighbours] == [n.decision_id for n in other.neighbours]
        for one, other in zip(alone, batch, strict=True)
    )
    print(f"same top {K}: single and waiting {same}/{QUERIES}, brute force {exact}/{QUERIES}")
    index.close()


def report(read: Cost, one: Cost, singles: Cost, together: Cost) -> None:
    """Print P6's two ratios beside their targets."""
    rows = (
        ("one read of the matrix (max)", read, ("", "")),
        ("one query", one, (f"{one.wall / read.wall:.2f} x", f"{one.cpu / read.cpu:.2f} x <= 1.3")),
        ("64 single queries", singles, ("", "")),
        (
            "64 waiting queries",
            together,
            (
                f"1/{singles.wall / together.wall:.2f}",
                f"1/{singles.cpu / together.cpu:.2f} <= 1/6",
            ),
        ),
    )
    print(f"{'':30}{'ms':>9} {'ratio':>8}{'cpu ms':>12} {'ratio, target':>15}")
    for name, cost, (wall, cpu) in rows:
        print(f"{name:30}{cost.wall:9.2f} {wall:>8}{cost.cpu:12.2f} {cpu:>15}")


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--repeat", type=int, default=9)
    arguments = parser.parse_args()
    asyncio.run(run(arguments.rows, arguments.dimension, arguments.repeat))


if __name__ == "__main__":
    main()
