"""Decisions and steps of missions that many processes write at once."""

from __future__ import annotations

import asyncio

from sureline.adapters.storage.store import open_store
from tests.adapters.storage.mission_samples import HERE, begin, evaluated
from tests.adapters.storage.samples import record


def append_many(url: str, name: str, count: int) -> None:
    """Append decisions from four callers; the body of a process."""

    async def work() -> None:
        store = open_store(url, busy_timeout=30)
        numbers = iter(range(count))

        async def call() -> None:
            for number in numbers:
                await store.ledger.append(record(f"{name}-{number}"))

        await asyncio.gather(*(call() for _ in range(4)))
        store.close()

    asyncio.run(work())


def count_missions(url: str, name: str, count: int, report: bool = False) -> None:
    """Count invocations of one mission from four callers, each with an evaluation of its own.

    With `report` each that was acknowledged is printed. The body of a process.
    """

    async def work() -> None:
        store = open_store(url, busy_timeout=30)
        await store.missions.create(begin())
        numbers = iter(range(count))

        async def call() -> None:
            for number in numbers:
                await store.missions.change(HERE, "m1", evaluated)
                await store.ledger.append(record(f"{name}-{number}"))
                if report:
                    print(number, flush=True)

        await asyncio.gather(*(call() for _ in range(4)))
        store.close()

    asyncio.run(work())
