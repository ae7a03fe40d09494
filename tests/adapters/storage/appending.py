"""Decisions that many processes append at once."""

from __future__ import annotations

import asyncio

from sureline.adapters.storage.store import open_store
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
