"""Verification that runs by itself: all of it, or what is new, gently, and what it remembers."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import threading
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from sureline.adapters.storage import chain_reader
from sureline.adapters.storage.store import Store, open_store
from sureline.adapters.verifying import VerifyThread
from sureline.application.ports.verifications import Extent
from sureline.application.verify_ledger import LedgerWatch
from sureline.core.values.notification import Notice
from sureline.errors import StoreUnavailable
from sureline.testing import FixedClock
from tests.adapters.storage.samples import NOON, outcome, record


def watch(store: Store, clock: FixedClock | None = None) -> LedgerWatch:
    return LedgerWatch(
        verifications=store.verifications, clock=clock or FixedClock(), workspace="default"
    )


async def filled(url: str) -> Store:
    """Open a store with two decisions, a label and an erasure."""
    store = open_store(url)
    await store.ledger.append(record(1))
    await store.ledger.append(record(2))
    await store.ledger.record_outcome(outcome("o1", "d1", comment="about Acme"))
    await store.ledger.erase("default", "d2", by="kim", reason="asked", at=NOON)
    return store


def tamper(store: Store, statement: str) -> None:
    """Change rows as someone with full access would."""
    if store.on_postgres:
        with psycopg.connect(store.url, autocommit=True) as connection:
            connection.execute("SET session_replication_role = replica")
            connection.execute(statement.encode())
        return
    with closing(sqlite3.connect(store.url.removeprefix("sqlite:///"))) as database, database:
        triggers = database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            database.execute(f"DROP TRIGGER {name}")
        database.execute(statement)


@pytest.fixture(params=["file", "postgres"])
def kept_url(request: pytest.FixtureRequest, path: Path) -> str:
    """Name a fresh store that somebody else can change."""
    if request.param == "postgres":
        found: str = request.getfixturevalue("postgres").database()
        return found
    return f"sqlite:///{path}"


async def test_the_first_look_reads_all_and_later_ones_what_is_new(store_url: str) -> None:
    """What held is remembered with its heads; the next tail begins there, in every stream."""
    store = await filled(store_url)
    clock = FixedClock()
    first = await watch(store, clock).tail()
    assert (first.extent, first.ok, first.rows) == (Extent.WHOLE, True, 4)
    await store.ledger.append(record(3))
    clock.advance(timedelta(minutes=15))
    second = await watch(store, clock).tail()
    assert (second.extent, second.ok, second.rows) == (Extent.TAIL, True, 1)
    third = await watch(store, clock).tail()
    assert (third.rows, dict(third.heads)) == (0, dict(second.heads))
    assert sum(head.seq for head in third.heads.values()) == 5
    assert list(await store.verifications.latest()) == [third, first]
    store.close()


@pytest.mark.parametrize(
    ("statement", "by_tail"),
    [
        ("UPDATE decisions SET route = 'auto_approve' WHERE id = 'd3'", True),
        ("DELETE FROM decisions WHERE id = 'd3'", True),
        ("UPDATE decisions SET route = 'auto_approve' WHERE id = 'd1'", False),
    ],
    ids=["new row changed", "new row cut off", "old row changed"],
)
async def test_what_does_not_hold_is_logged_remembered_and_told_once_a_day(
    kept_url: str, caplog: pytest.LogCaptureFixture, statement: str, by_tail: bool
) -> None:
    """The tail sees what is wrong with new rows, the whole what is wrong with any."""
    store = await filled(kept_url)
    clock = FixedClock()
    held = await watch(store, clock).whole()
    await store.ledger.append(record(3))
    tamper(store, statement)
    clock.advance(timedelta(hours=1))
    assert (await watch(store, clock).tail()).ok is not by_tail
    with caplog.at_level(logging.ERROR):
        found = await watch(store, clock).whole()
        await watch(store, clock).whole()
    assert not found.ok
    assert "DOES NOT HOLD: row" in found.said
    assert found.said in caplog.text
    assert (found.held_at, found.heads) == (held.at, held.heads)
    told = await notices_told(store)
    assert [kind for kind, _ in told] == ["ledger.broken"]
    assert "Acme" not in str(told)
    store.close()


async def notices_told(store: Store) -> list[tuple[str, str]]:
    """Return the kinds and facts of what is to be told."""
    told: list[tuple[str, str]] = []

    def plan(notice: Notice) -> list[str]:
        told.append((notice.kind.value, str(notice.facts)))
        return []

    await store.outbox.spread("default", plan, now=NOON, limit=10)
    return told


async def test_an_end_cut_off_with_its_head_is_found_by_what_held_before(kept_url: str) -> None:
    """A plain verification cannot see it; one that remembers where the chain stood can."""
    store = await filled(kept_url)
    early = (await store.verifications.verify()).heads
    await store.ledger.append(record(3))
    held = (await watch(store).whole()).heads
    (stream,) = (name for name in held if held[name] != early[name])
    tamper(store, "DELETE FROM decisions WHERE id = 'd3'")
    tamper(store, f"UPDATE heads SET seq = {early[stream].seq} WHERE stream = '{stream}'")
    hexed = early[stream].hash.hex()
    value = f"'\\x{hexed}'" if store.on_postgres else f"X'{hexed}'"
    tamper(store, f"UPDATE heads SET hash = {value} WHERE stream = '{stream}'")
    assert (await store.ledger.verify()).ok
    found = await watch(store).whole()
    assert not found.ok
    assert "the row that was verified before" in found.said
    store.close()


async def test_it_reads_in_pages_and_lets_others_write(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page is a transaction of its own: what is appended meanwhile is appended, and verified."""
    monkeypatch.setattr(chain_reader, "PAGE", 2)
    store = await filled(store_url)
    for number in range(3, 40):
        await store.ledger.append(record(number))
    verifying = asyncio.create_task(watch(store).whole())
    for number in range(40, 60):
        await store.ledger.append(record(number))
    done = await verifying
    assert done.ok
    assert done.rows >= 41
    assert (await watch(store).tail()).ok
    assert sum(head.seq for head in (await watch(store).tail()).heads.values()) == 61
    store.close()


async def test_who_breaks_it_off_leaves_the_store_working(store_url: str) -> None:
    """A cancelled verification lets go of its reader, remembers nothing and harms nothing."""
    store = await filled(store_url)
    work = asyncio.create_task(watch(store).whole())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert await store.verifications.latest() == []
    assert (await watch(store).whole()).ok
    store.close()


def test_the_thread_verifies_at_once_and_ends_in_the_middle() -> None:
    """Leaving the block breaks off what is under way; an error of the store ends nothing."""
    began, ended = threading.Event(), threading.Event()

    async def verify() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    with VerifyThread(verify):
        assert began.wait(10)
    assert ended.wait(10)


def test_a_store_that_is_away_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    """The thread goes on looking after an error, and says it in the log."""
    twice = threading.Semaphore(0)

    async def verify() -> None:
        twice.release()
        raise StoreUnavailable("the store is away")

    with VerifyThread(verify, tick=0.01):
        assert twice.acquire(timeout=10)
        assert twice.acquire(timeout=10)
    assert "the store is away" in caplog.text
