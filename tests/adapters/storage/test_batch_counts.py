"""What is counted of group commits."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from sureline.adapters.storage.batch_counts import BatchCounts
from sureline.adapters.storage.store import Store
from sureline.application.ports.keys import Role
from sureline.errors import Conflict, StoreFull
from sureline.testing import MOMENT


def counted(durations: Sequence[float], result: Any = 1) -> BatchCounts:
    """Return counts of batches of two jobs that took this long."""

    def ticks() -> Iterator[float]:
        for one in durations:
            yield 10.0
            yield 10.0 + one

    clock = ticks()
    counts = BatchCounts(lambda: next(clock))
    batch = counts.over(lambda jobs: [result] * len(jobs))
    for _ in durations:
        batch([1, 2])
    return counts


@pytest.mark.parametrize(("seconds", "place"), [(0.0, 0), (0.0009, 0), (0.03, 5), (60.0, 12)])
def test_a_batch_falls_into_its_class(seconds: float, place: int) -> None:
    """Classes have an upper end, the last has none."""
    figures = counted([seconds]).figures(waiting=3)
    assert figures.batches[place] == sum(figures.batches) == 1
    assert (figures.jobs, figures.waiting) == (2, 3)
    assert figures.seconds == pytest.approx(seconds)


def test_only_the_stores_errors_are_its_failures() -> None:
    """A conflict is an answer; a full disk is a failure."""
    assert counted([0.1], StoreFull("full")).figures(waiting=0).failed == {"StoreFull": 2}
    assert counted([0.1], Conflict("other content")).figures(waiting=0).failed == {}


async def test_every_store_counts_what_it_writes(store: Store) -> None:
    """Writes at once share commits; all of them are counted, and nothing waits afterwards."""
    before = store.database.figures()

    async def write(name: str) -> None:
        await store.keys.create(
            name=name, role=Role.AGENT, workspace="default", slices=(), at=MOMENT
        )

    await asyncio.gather(*(write(f"k{at}") for at in range(10)))
    after = store.database.figures()
    assert after.jobs - before.jobs == 10
    assert 1 <= sum(after.batches) - sum(before.batches) <= 10
    assert after.seconds > before.seconds
    assert (after.waiting, after.reading) == (0, 0)
