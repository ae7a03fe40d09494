"""Rows of area 7-ops about the write-ahead log and forks: what a file can take."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from itertools import islice
from pathlib import Path

import httpx
import psycopg
import pytest

from sureline.adapters.storage import chain_reader
from sureline.adapters.storage.log_watch import LogWatch
from sureline.adapters.storage.sqlite_database import SqliteDatabase
from sureline.adapters.storage.store import Store, open_store
from sureline.application.ports.ledger import LabelledRecord
from sureline.errors import StoreError
from tests.adapters.storage.samples import NOON, record
from tests.cases.stores import both, path_of, rows
from tests.cases.test_history_cases import Cases
from tests.cut_line import line_to
from tests.postgres import Postgres
from tests.web.served import serve

ROOT = Path(__file__).parents[2]
MEGABYTE = 1024 * 1024
LIMIT = 64 * MEGABYTE
BATCH = 1_000


async def write(store: Store, first: int, count: int) -> None:
    """Append so many decisions."""
    for start in range(first, first + count, BATCH):
        many = range(start, min(start + BATCH, first + count))
        await store.ledger.import_records(
            [LabelledRecord(record=record(number, vector=None), outcome=None) for number in many]
        )


@pytest.mark.slow
async def test_o03_a_held_snapshot_lets_the_log_grow_and_is_warned_of(
    cases: Cases, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """While somebody else's reading is open the log cannot be emptied; that is shown and told.

    Once it is over the next writes use the log anew, and an erasure empties it. Our own readings
    end with their page.
    """
    writes = cases["O03"]["input"]["writes"]
    url = f"sqlite:///{tmp_path / 'store.db'}"
    store = open_store(url)
    await write(store, 0, BATCH)
    reader = sqlite3.connect(path_of(url), isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM decisions").fetchone()
    await write(store, BATCH, writes)
    grown = store.log_bytes
    watch = LogWatch(store.database, large=grown // 2)
    watch.look()
    assert watch.is_large
    assert "some program keeps a reading of it open" in caplog.text
    reader.close()
    for number in range(3):
        await write(store, BATCH + writes + number * BATCH, BATCH)
    assert store.log_bytes <= max(grown, LIMIT)
    await store.ledger.erase("default", "d1", by="kim", reason="asked", at=NOON)
    assert store.log_bytes < MEGABYTE
    assert (await store.ledger.verify()).fault is None
    store.close()
    monkeypatch.setattr(SqliteDatabase, "log_bytes", lambda _: 5 * LIMIT)
    (tmp_path / "served").mkdir()
    with serve(tmp_path / "served") as served:
        ready = (await asyncio.to_thread(httpx.get, f"{served.url}/readyz")).json()
    assert (ready["status"], ready["warnings"]) == ("ready", ["log_is_large"])


async def test_o04_a_reading_that_was_left_pins_nothing(
    cases: Cases, tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Export and verification that stop in the middle hold no snapshot: each page is its own.

    On PostgreSQL the server ends a transaction in which nothing comes for twenty seconds.
    """
    assert cases["O04"]["input"]["leaked_cursor"] is True
    monkeypatch.setattr(chain_reader, "PAGE", 10)
    file, server = both(tmp_path, postgres)
    for url in (file, server):
        store = open_store(url)
        await write(store, 0, 60)
        exporting = store.ledger.export()
        assert len(list(islice(exporting, 25))) == 25
        verifying = asyncio.create_task(store.verifications.verify())
        for _ in range(3):
            await asyncio.sleep(0)
        if url == file:
            with closing(sqlite3.connect(path_of(url))) as other:
                blocked, *_ = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            assert (blocked, store.log_bytes) == (0, 0)
        else:
            open_since = (
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() "
                "AND state LIKE 'idle in transaction%' AND pid <> pg_backend_pid()"
            )
            assert rows(url, open_since) == [(0,)]
            with store.database.connect() as connection:  # type: ignore[attr-defined]
                limit = connection.execute("SHOW idle_in_transaction_session_timeout").fetchone()
            assert limit == ("20s",)
        await write(store, 60, 20)
        assert (await verifying).fault is None
        assert sum(1 for _ in exporting) >= 35
        store.close()


def in_child(work: Callable[[], None]) -> int:
    """Fork, run `work` in the child; return the child's process id."""
    child = os.fork()
    if child == 0:  # not a line of pytest may run here
        try:
            work()
            code = 0
        except BaseException:  # noqa: BLE001 - the child only has a code to say it with
            code = 1
        os._exit(code)
    return child


def ended_well(children: list[int]) -> bool:
    """Wait for children; tell whether all of them ended well."""
    return not any(os.waitpid(child, 0)[1] for child in children)


def integrity(path: Path) -> str:
    with closing(sqlite3.connect(path)) as database:
        (found,) = database.execute("PRAGMA integrity_check").fetchone()
    return str(found)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_o05_what_is_opened_before_the_fork_is_opened_anew_in_the_child(
    cases: Cases, tmp_path: Path, postgres: Postgres
) -> None:
    """A preloaded store and four workers, twenty-five times: a hundred children write.

    On PostgreSQL, where each child connects and nothing of the parent's is closed, a few will do.
    """
    assert cases["O05"]["input"]["server"] == "preload + 4 workers"
    for url, turns in zip(both(tmp_path, postgres), (25, 3), strict=True):
        store = open_store(url, busy_timeout=30)

        def append(name: str, store: Store = store) -> None:
            asyncio.run(store.ledger.append(record(name)))

        for turn in range(turns):
            append(f"before-{turn}")
            children = [
                in_child(lambda name=f"{turn}-{worker}": append(name)) for worker in range(4)
            ]
            assert ended_well(children)
        report = asyncio.run(store.ledger.verify())
        store.close()
        assert (report.fault, report.rows) == (None, 5 * turns)
    assert integrity(tmp_path / "store.db") == "ok"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_o06_forks_beside_a_writer_damage_nothing(cases: Cases, tmp_path: Path) -> None:
    """Children come and go while a thread of the parent writes; the docs say who may share."""
    assert "fork while a writer is active" in cases["O06"]["input"]["action"]
    path = tmp_path / "store.db"
    store = open_store(f"sqlite:///{path}")
    stop, done = threading.Event(), list[int]()

    async def busy() -> None:
        while not stop.is_set():
            await store.ledger.append(record(len(done)))
            done.append(len(done))

    writer = threading.Thread(target=lambda: asyncio.run(busy()))
    writer.start()
    for _ in range(40):
        assert ended_well([in_child(lambda: asyncio.run(find(store)))])
    stop.set()
    writer.join()
    report = asyncio.run(store.ledger.verify())
    store.close()
    assert (report.fault, report.rows) == (None, len(done))
    assert integrity(path) == "ok"
    said = (ROOT / "docs" / "explanation" / "ledger.md").read_text(encoding="utf-8")
    assert "## Which servers may share a file" in said


async def find(store: Store) -> None:
    assert await store.ledger.decision("default", "none") is None


async def test_o27_a_backend_killed_at_the_commit_leaves_one_decision(
    cases: Cases, postgres: Postgres
) -> None:
    """Whoever sends it again under its id finds or makes exactly one; unknown is never success."""
    assert cases["O27"]["input"]["fault"] == "kill backend at COMMIT"
    for arrives in (False, True):
        url = postgres.database()
        with line_to(url) as line:
            store = open_store(line.url, busy_timeout=1)
            line.line.cut_at = (b"COMMIT", arrives)
            with pytest.raises(StoreError):
                await store.ledger.append(record(1))
            line.mend()
            await retried(store, 1)
            kill_backends(url)
            await retried(store, 1)
            await retried(store, 2)
            report = await store.ledger.verify()
            assert (report.fault, report.rows) == (None, 2)
            store.close()


def kill_backends(url: str) -> None:
    """End every connection to a database but this one, as an administrator can."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


async def retried(store: Store, number: int) -> None:
    """Send a decision until it is acknowledged, as a client does."""
    for _ in range(300):
        try:
            assert (await store.ledger.append(record(number))).id == f"d{number}"
        except StoreError:
            await asyncio.sleep(0.01)
        else:
            return
    raise AssertionError("the store did not come back")
