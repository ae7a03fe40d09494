"""A PostgreSQL server that is full, has no room for us or is forked away from loses nothing."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from sureline.adapters.storage.store import Store, open_store
from sureline.errors import (
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from tests.adapters.storage.samples import record
from tests.postgres import Postgres


@pytest.fixture
def url(postgres: Postgres) -> str:
    """Name a fresh store."""
    return postgres.database()


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """Open a fresh store."""
    opened = open_store(url, busy_timeout=1)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("state", "error", "words"),
    [
        ("53100", StoreFull, "full"),
        ("53200", StoreFull, "full"),
        ("25006", StoreReadOnly, "cannot be written"),
        ("58030", StoreUnavailable, "nothing was acknowledged"),
        ("XX001", StoreCorrupt, "damaged"),
        ("40001", StoreBusy, "try again"),
        ("57014", StoreBusy, "try again"),
    ],
)
async def test_what_the_server_cannot_do_is_said_and_done_once_it_can(
    url: str, store: Store, state: str, error: type[StoreError], words: str
) -> None:
    """A full disk, a standby, a broken page: nothing is stored, and later everything is."""
    await store.ledger.append(record(1))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            f"CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END $$".encode()
        )
        connection.execute(
            "CREATE TRIGGER failing BEFORE INSERT ON decisions EXECUTE FUNCTION fail()"
        )
        found = await asyncio.gather(
            *(store.ledger.append(record(n)) for n in range(2, 8)), return_exceptions=True
        )
        assert {type(one) for one in found} == {error}
        assert all(words in str(one) for one in found)
        assert (await store.ledger.decision("default", "d1")) is not None
        connection.execute("DROP TRIGGER failing ON decisions")
    await asyncio.gather(*(store.ledger.append(record(n)) for n in range(2, 8)))
    report = await store.ledger.verify()
    assert (report.fault, report.rows) == (None, 7)


async def test_without_a_connection_left_what_is_connected_goes_on(
    postgres: Postgres, url: str, store: Store
) -> None:
    """Too many others: who needs one more is told, who has one works, and later all is well."""
    await store.ledger.append(record(1))
    name = url.split("/")[3].split("?")[0]
    postgres.run(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
    with pytest.raises(StoreUnavailable, match="not currently accepting"):
        await store.ledger.route_counts("default")
    await store.ledger.append(record(2))
    postgres.run(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
    for _ in range(200):
        try:
            await store.ledger.route_counts("default")
            break
        except StoreUnavailable:
            await asyncio.sleep(0.01)
    assert (await store.ledger.verify()).rows == 2


def _busy(store: Store, stop: threading.Event, done: list[int]) -> None:
    """Write until told to stop."""

    async def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            await store.ledger.append(record(number))
            done.append(number)

    asyncio.run(write())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("kind", ["file", "postgres"])
def test_a_hundred_forks_beside_a_writer_damage_nothing(
    kind: str, url: str, tmp_path: Path
) -> None:
    """Each child reads and ends; the parent's writes go on, and nothing is lost (O05, O06)."""
    path = tmp_path / "store.db"
    store = open_store(url if kind == "postgres" else f"sqlite:///{path}")
    stop, done = threading.Event(), list[int]()
    writer = threading.Thread(target=_busy, args=(store, stop, done))
    writer.start()
    failed = 0
    for _ in range(100):
        child = os.fork()
        if child == 0:  # not a line of pytest may run here
            try:
                code = asyncio.run(store.ledger.decision("default", "none")) is not None
            except BaseException:  # noqa: BLE001 - the child only has a code to say it with
                code = True
            os._exit(int(code))
        failed += os.waitpid(child, 0)[1]
    stop.set()
    writer.join()
    report = asyncio.run(store.ledger.verify())
    store.close()
    assert (failed, report.fault, report.rows) == (0, None, len(done))
    if kind == "file":
        with sqlite3.connect(path) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
