"""What goes wrong with a PostgreSQL store is said in words, and mended where it can be."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections.abc import Iterator
from urllib.parse import quote

import psycopg
import pytest
from sqlalchemy import text

from sureline.adapters.storage import postgres_database, postgres_schema
from sureline.adapters.storage.postgres_switches import FollowedSwitches
from sureline.adapters.storage.statement import Statement
from sureline.adapters.storage.store import Store, open_store
from sureline.adapters.storage.tables import SCHEMA_REVISION
from sureline.errors import (
    InvalidInput,
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreReadOnly,
    StoreTooNew,
    StoreTooOld,
    StoreUnavailable,
)
from tests.adapters.storage.samples import outcome, record, switch
from tests.postgres import Postgres

_ANY = Statement(text("SELECT 1"))
_SPAWN = multiprocessing.get_context("spawn")


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


def _end_connections(postgres: Postgres, url: str) -> None:
    name = url.split("/")[3].split("?")[0]
    postgres.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")


async def test_a_lost_connection_is_made_anew(postgres: Postgres, url: str, store: Store) -> None:
    """Reads and writes after it go on as if nothing had been, and the chain is whole."""
    await store.ledger.append(record(1))
    for number in (2, 3):
        _end_connections(postgres, url)
        assert (await store.ledger.decision("default", "d1")) is not None
        assert await store.ledger.outcomes("default", "d1") == []
        await store.ledger.append(record(number))
    report = await store.ledger.verify()
    assert (report.fault, report.rows) == (None, 3)


async def test_a_held_lock_is_busy_not_forever(url: str, store: Store) -> None:
    """Whoever holds the write lock too long makes others give up, and decisions go on."""
    await store.ledger.append(record(1))
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("BEGIN")
        other.execute("SELECT pg_advisory_xact_lock(%s, 0)", (0x53524C4E,))
        with pytest.raises(StoreBusy, match="held up"):
            await store.ledger.record_outcome(outcome("o1", "d1"))
        await store.ledger.append(record(2))
    await store.ledger.record_outcome(outcome("o1", "d1"))


async def test_one_bad_row_does_not_lose_its_neighbours(store: Store) -> None:
    """What the database cannot hold (a number beyond its columns) fails alone."""
    good, bad = record(1), record(2, score_bin=2**40)
    found = await asyncio.gather(
        *(store.ledger.append(one) for one in (good, bad, record(3))), return_exceptions=True
    )
    assert isinstance(found[1], StoreError)
    assert [isinstance(one, BaseException) for one in found] == [False, True, False]
    assert (await store.ledger.verify()).rows == 2


@pytest.mark.parametrize(
    ("address", "error", "words"),
    [
        ("postgresql://localhost:1/none", StoreUnavailable, "cannot be reached"),
        ("postgresql://{missing}", StoreUnavailable, "does not exist"),
        ("postgresql://[::1/x", InvalidInput, "expected postgresql://"),
        ("mysql://localhost/x", InvalidInput, "expected sqlite:///file.db or postgresql://"),
    ],
    ids=["nobody there", "no such database", "not an address", "another kind"],
)
def test_a_wrong_address_is_named(
    postgres: Postgres, address: str, error: type[StoreError], words: str
) -> None:
    """It says what cannot be reached, or what an address looks like."""
    missing = postgres.url.removeprefix("postgresql://").replace("/postgres?", "/no_such?")
    with pytest.raises(error, match=words):
        open_store(address.format(missing=missing), busy_timeout=1)


def test_no_password_is_ever_said(postgres: Postgres) -> None:
    """What is called the store has host and name, nothing else."""
    secret = "hush" + "-hush"
    with pytest.raises(StoreUnavailable) as found:
        open_store(f"postgresql://kim:{quote(secret)}@localhost:1/x", busy_timeout=1)
    assert secret not in str(found.value)
    assert (
        postgres_database.readable_address("postgresql://kim:pw@db/x") == "the database 'x' on db"
    )


def test_another_program_s_database_is_refused(postgres: Postgres) -> None:
    """A database with Alembic's table but without ours is left alone."""
    url = postgres.database(empty=True)
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num text)")
    with pytest.raises(StoreCorrupt, match="another program"):
        open_store(url)


def test_a_newer_schema_is_refused(url: str) -> None:
    """An older sureline does not write into it."""
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreTooNew, match="install the newer sureline"):
        open_store(url)


def _of_schema(url: str, revision: str) -> None:
    """Change the revision as another version's upgrade would."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = %s", (revision,))


@pytest.mark.parametrize(
    ("revision", "error"),
    [("0099", StoreTooNew), ("0003", StoreTooOld)],
    ids=["upgraded", "an older backup"],
)
async def test_an_open_store_does_not_go_on_with_other_tables(
    postgres: Postgres, url: str, store: Store, revision: str, error: type[StoreError]
) -> None:
    """Each new connection looks; nothing is written or read, and after a while it works again."""
    await store.ledger.append(record(1))
    _of_schema(url, revision)
    _end_connections(postgres, url)
    with pytest.raises(error, match=f"has schema {revision}"):
        await store.ledger.append(record(2))
    with pytest.raises(error):
        await store.ledger.decision("default", "d1")
    with pytest.raises(error):
        store.database.fetch(_ANY)
    with pytest.raises(error), store.database.snapshot():
        pass
    _of_schema(url, SCHEMA_REVISION)
    assert (await store.ledger.append(record(2))).created


async def test_connections_that_live_on_hear_of_another_schema(url: str, store: Store) -> None:
    """Who follows the switches finds out without a new connection, and goes on once it is right."""
    await store.ledger.append(record(1))
    assert await store.ledger.switches_on("default", "invoices", None) == []
    database = store.database
    assert isinstance(database, postgres_database.PostgresDatabase)
    _of_schema(url, "0099")
    await database.switches.changed()
    with pytest.raises(StoreTooNew, match="has schema 0099"):
        await store.ledger.append(record(2))
    with pytest.raises(StoreTooNew):
        await store.ledger.decision("default", "d1")
    (stop,) = await store.ledger.switches_on("default", "invoices", None)
    assert "has schema 0099" in stop.reason
    _of_schema(url, SCHEMA_REVISION)
    await database.switches.changed()
    await database.switches.changed()
    assert (await store.ledger.append(record(2))).created


def test_an_older_server_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The version that is needed is said."""
    monkeypatch.setattr(postgres_schema, "OLDEST_SERVER", 99)
    with pytest.raises(StoreUnavailable, match="sureline needs 99"):
        open_store(url)


def test_without_create_an_empty_database_stays_empty(postgres: Postgres) -> None:
    """A mistyped name makes no store."""
    url = postgres.database(empty=True)
    with pytest.raises(StoreUnavailable, match="there is no store"):
        open_store(url, create=False)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT to_regclass('meta')").fetchone() == (None,)


def _open(url: str) -> None:
    open_store(url, busy_timeout=30).close()


def test_two_migrations_at_once_are_one(postgres: Postgres) -> None:
    """Four processes that open an empty database together make its tables once."""
    url = postgres.database(empty=True)
    children = [_SPAWN.Process(target=_open, args=(url,)) for _ in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0] * 4


async def test_a_standby_can_be_read_and_refuses_writes(postgres: Postgres, url: str) -> None:
    """What is to be written is refused at the door, and at the latest when it is written."""
    name = url.split("/")[3].split("?")[0]
    postgres.run(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    with pytest.raises(StoreReadOnly, match="connect to the primary"):
        open_store(url)
    store = open_store(url, to_write=False)
    assert await store.ledger.decision("default", "d1") is None
    with pytest.raises(StoreReadOnly, match="cannot be written"):
        await store.ledger.append(record(1))
    store.close()


def test_no_connection_left_is_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """All reading connections are in use: busy, not a hang."""
    monkeypatch.setattr(postgres_database, "READERS", 1)
    database = store.database
    assert isinstance(database, postgres_database.PostgresDatabase)
    with database._opened_pool().borrowed(), pytest.raises(StoreBusy, match="were in use"):
        store.database.fetch(_ANY)


async def test_a_closed_store_says_so(url: str) -> None:
    """Nothing is done after the end."""
    store = open_store(url)
    store.close()
    store.close()
    with pytest.raises(StoreUnavailable, match="the store is closed"):
        await store.ledger.append(record(1))
    with pytest.raises(StoreUnavailable, match="the store is closed"):
        await store.ledger.decision("default", "d1")


@pytest.mark.parametrize("statement", ["UPDATE outcomes SET correct = 0", "TRUNCATE decisions"])
async def test_the_database_refuses_to_change_what_is_recorded(
    url: str, store: Store, statement: str
) -> None:
    """Append-only tables cannot be updated, deleted from or emptied."""
    await store.ledger.append(record(1))
    with (
        psycopg.connect(url) as connection,
        pytest.raises(psycopg.errors.RaiseException, match="append-only"),
    ):
        connection.execute(statement.encode())


async def test_a_switch_reaches_another_process_within_a_second(url: str, store: Store) -> None:
    """Written here, it holds there at the next message, without a reading per decision."""
    other = open_store(url)
    assert await other.ledger.switches_on("default", "invoices", None) == []
    await store.ledger.set_switch(switch())
    found = await store.ledger.switches_on("default", "invoices", None)
    assert [one.on for one in found] == [True]
    for _ in range(100):
        if await other.ledger.switches_on("default", "invoices", None):
            break
        await asyncio.sleep(0.01)
    else:
        pytest.fail("the switch did not arrive within a second")
    other.close()


async def test_what_is_older_than_a_second_counts_as_on(url: str) -> None:
    """Where the listener is lost, everything goes to people until it is back."""
    now = [100.0]
    broken = [False]

    def connect() -> postgres_database.Connection:
        if broken[0]:
            raise psycopg.OperationalError("the line is cut")
        return psycopg.connect(url, autocommit=True)

    followed = FollowedSwitches(connect, "the database", monotonic=lambda: now[0])
    assert await followed.on("default", "invoices", None) == []
    broken[0] = True
    followed.stop()
    found = await followed.on("default", "invoices", None)
    assert [(one.on, one.scope) for one in found] == [(True, "global")]
    assert "the line is cut" in found[0].reason
    followed.stop()
    broken[0] = False
    assert await followed.on("default", "invoices", None) == []
    followed.stop()
