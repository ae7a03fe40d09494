"""Every earlier schema, with data in it, becomes this version's: at once, in one piece, or not."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event, text
from sqlalchemy.engine import Engine

from sureline.adapters.storage import postgres_schema, schema
from sureline.adapters.storage.migrating import migrate
from sureline.adapters.storage.store import Store, open_store
from sureline.adapters.storage.tables import SCHEMA_REVISION
from sureline.bootstrap.copying import UpgradeReport, upgrade_store
from sureline.errors import StoreTooNew, StoreTooOld
from tests.adapters.storage.older_stores import DECISIONS, REVISIONS, connected, older_store
from tests.adapters.storage.samples import MEASUREMENT, record
from tests.adapters.storage.stored_revisions import stored_revision
from tests.postgres import Postgres


@pytest.fixture(params=["file", "postgres"])
def empty_url(request: pytest.FixtureRequest, path: Path) -> str:
    """Name a database without tables."""
    if request.param == "postgres":
        found: str = request.getfixturevalue("postgres").database(empty=True)
        return found
    return f"sqlite:///{path}"


async def assert_the_same(source: Store, store: Store) -> None:
    """Chain, secret, decisions, labels and what follows from them are as they were."""
    before, after = await source.ledger.verify(), await store.ledger.verify()
    assert (after.fault, after.rows, after.erased) == (None, before.rows, before.erased)
    assert dict(after.heads) == dict(before.heads)
    assert store.secret == source.secret
    assert all(one.ok for one in await store.derived.compare())
    for read in (
        lambda one: one.ledger.label_counts("default", "invoices", MEASUREMENT),
        lambda one: one.ledger.route_counts("default"),
        lambda one: one.ledger.switches("default"),
        lambda one: one.ledger.erasures("default"),
        lambda one: one.registry.active("default", "policy"),
        *(
            lambda one, number=number: one.ledger.decision("default", f"d{number}")
            for number in range(1, DECISIONS + 1)
        ),
    ):
        assert await read(store) == await read(source)


@pytest.mark.parametrize("revision", REVISIONS)
async def test_every_earlier_schema_is_upgraded_with_its_data(
    empty_url: str, revision: str
) -> None:
    """What was stored is there, proven and readable, and the store goes on from there."""
    source = await older_store(empty_url, revision)
    assert stored_revision(empty_url) == revision
    done = upgrade_store(empty_url)
    assert (done.before, done.after) == (revision, SCHEMA_REVISION)
    store = open_store(empty_url)
    await assert_the_same(source, store)
    assert not await store.ledger.consume("default", "d4", record().created_at)
    rows = (await store.ledger.verify()).rows
    assert (await store.ledger.append(record("new"))).created
    assert (await store.ledger.verify()).rows == rows + 1
    assert (await store.verifications.verify()).ok
    store.close()
    source.close()


async def test_streams_and_seals_are_kept(postgres: Postgres) -> None:
    """A store that has a stream for each writer and seals since 0005 verifies as before."""
    url = postgres.database(empty=True)
    source = await older_store(url, "0005", like=postgres.database())
    assert upgrade_store(url).before == "0005"
    store = open_store(url)
    assert set((await store.ledger.verify()).heads) == {"common", "writer-1"}
    await assert_the_same(source, store)
    store.close()
    source.close()


@pytest.mark.parametrize("revision", ["0001", "0004"])
async def test_of_two_at_once_one_migrates_and_the_other_waits(
    empty_url: str, revision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second comes while the first is at work under the lock; it finds nothing left to do."""
    source = await older_store(empty_url, revision)
    at_work, second_came = threading.Event(), threading.Event()
    migrations: list[str] = []

    def slowly(connection: Any) -> None:
        migrations.append(revision)
        at_work.set()
        assert second_came.wait(10)
        migrate(connection)

    done: list[UpgradeReport] = []

    def second() -> None:
        assert at_work.wait(10)
        second_came.set()
        done.append(upgrade_store(empty_url))

    for module in (schema, postgres_schema):
        monkeypatch.setattr(module, "migrate", slowly)
    other = threading.Thread(target=second)
    other.start()
    first = upgrade_store(empty_url)
    other.join()
    assert migrations == [revision]
    assert [first.before, done[0].before] == [revision, SCHEMA_REVISION], "one says so"
    store = open_store(empty_url)
    await assert_the_same(source, store)
    store.close()
    source.close()


def test_upgrading_makes_the_tables_in_an_empty_database(
    empty_url: str,
) -> None:
    """That is how the first start of all begins; a second upgrade finds nothing to do."""
    if empty_url.startswith("sqlite"):
        Path(empty_url.removeprefix("sqlite:///")).touch()
    assert [upgrade_store(empty_url).before for _ in range(2)] == [None, SCHEMA_REVISION]
    assert stored_revision(empty_url) == SCHEMA_REVISION


@pytest.mark.parametrize("to_write", [False, True], ids=["to read", "to write"])
async def test_older_tables_are_upgraded_only_where_that_is_wanted(
    empty_url: str, to_write: bool
) -> None:
    """One who opens a database, or only reads a file, changes no tables and says what to do."""
    (await older_store(empty_url, "0003")).close()
    if to_write and empty_url.startswith("sqlite"):
        store = open_store(empty_url)
        assert (store.database.prepared.migrated, store.database.prepared.before) == (True, "0003")
        store.close()
        return
    needs = f"has schema 0003, this sureline needs {SCHEMA_REVISION}: run `sureline store upgrade`"
    with pytest.raises(StoreTooOld, match=needs) as found:
        open_store(empty_url, create=to_write, to_write=to_write)
    assert found.value.exit_code == 3
    assert stored_revision(empty_url) == "0003"


def die_at(statement: int, url: str) -> int:
    """Upgrade the store in a child that is killed before a statement; return its end."""
    child = os.fork()
    if child == 0:
        left = [statement]

        def count(*_: Any) -> None:
            left[0] -= 1
            if not left[0]:
                os.kill(os.getpid(), signal.SIGKILL)

        event.listen(Engine, "before_cursor_execute", count)
        try:
            upgrade_store(url)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("statement", [1, 12, 30], ids=["at once", "early", "late"])
async def test_a_kill_in_the_middle_leaves_the_old_schema(empty_url: str, statement: int) -> None:
    """Tables are made in one transaction: nothing of the new ones is there, and all the old are."""
    source = await older_store(empty_url, "0001")
    with connected(empty_url) as connection:
        before = contents(connection)
    assert die_at(statement, empty_url) == -signal.SIGKILL
    assert stored_revision(empty_url) == "0001"
    with connected(empty_url) as connection:
        assert contents(connection) == before
    upgrade_store(empty_url)
    store = open_store(empty_url)
    await assert_the_same(source, store)
    store.close()
    source.close()


def contents(connection: Any) -> dict[str, int]:
    """Return all tables with their numbers of rows."""
    if connection.dialect.name == "sqlite":
        listed = "SELECT name FROM sqlite_master WHERE type = 'table'"
    else:
        listed = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    names = sorted(connection.execute(text(listed)).scalars())
    return {
        name: connection.execute(text(f'SELECT count(*) FROM "{name}"')).scalar_one()
        for name in names
    }


@pytest.mark.parametrize(
    "attempt",
    [open_store, lambda url: open_store(url, to_write=False), upgrade_store],
    ids=["opened", "opened to read", "upgraded"],
)
def test_an_older_version_writes_nothing_into_a_newer_schema(
    empty_url: str, attempt: Callable[[str], object]
) -> None:
    """It says that the schema is newer, never that it is behind, and leaves every byte alone."""
    open_store(empty_url).close()
    with connected(empty_url) as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        before = contents(connection)
    file = Path(empty_url.removeprefix("sqlite:///"))
    content = file.read_bytes() if empty_url.startswith("sqlite") else b""
    with pytest.raises(StoreTooNew, match=r"has schema 9999.*install the newer sureline"):
        attempt(empty_url)
    assert stored_revision(empty_url) == "9999"
    if content:
        assert file.read_bytes() == content
    with connected(empty_url) as connection:
        assert contents(connection) == before
