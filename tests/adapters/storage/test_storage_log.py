"""The write-ahead log of a file stays small, and who keeps it from that is told of (O03, O04)."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path

import pytest

from sureline.adapters.storage.log_watch import LogWatch
from sureline.adapters.storage.store import open_store
from tests.adapters.storage.samples import record


async def test_the_log_is_bounded_once_nobody_reads_in_it(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A program that keeps a reading open lets it grow, is warned of, and it then grows no more."""
    store = open_store(f"sqlite:///{path}")
    watch = LogWatch(store.database, large=1_000_000)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN")
    other.execute("SELECT count(*) FROM decisions").fetchone()
    numbers = iter(range(10_000))

    async def write() -> int:
        for _ in range(20):
            batch = [record(next(numbers), body=b"x" * 4_000) for _ in range(40)]
            await asyncio.gather(*(store.ledger.append(one) for one in batch))
        return store.log_bytes

    assert await write() < await write()
    grown = store.log_bytes
    watch.look()
    watch.look()
    assert watch.is_large
    assert [one.message.split(" has ")[1].split(":")[0] for one in caplog.records] == [
        f"{grown // (1024 * 1024)} MB"
    ]
    other.close()
    for _ in range(3):
        assert await write() <= grown + 5_000_000
    store.close()


async def test_an_export_that_nobody_ends_pins_no_log(path: Path) -> None:
    """It reads in pages, each a short transaction of its own, so that the log can be emptied."""
    store = open_store(f"sqlite:///{path}")
    for first in range(0, 200, 40):
        await asyncio.gather(*(store.ledger.append(record(first + n)) for n in range(40)))
    lines = store.ledger.export()
    next(lines)
    for first in range(1000, 5000, 40):
        batch = [record(first + n, body=b"x" * 4_000) for n in range(40)]
        await asyncio.gather(*(store.ledger.append(one) for one in batch))
    assert store.log_bytes < 10_000_000
    assert sum(1 for _ in lines) == 199
    store.close()
