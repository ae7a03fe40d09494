"""Two replicas that are given the same id at once both answer with the one stored decision."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator, Sequence

import psycopg
import pytest

from sureline.adapters.storage.postgres_errors import store_error as postgres_error
from sureline.adapters.storage.store import Store, open_store
from sureline.application.ports.ledger import StoredDecision
from tests.adapters.storage.samples import record
from tests.postgres import Postgres

_WAITING = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = %s"


@pytest.fixture
def url(postgres: Postgres) -> str:
    """Name a fresh store."""
    return postgres.database()


@pytest.fixture
def stores(url: str) -> Iterator[tuple[Store, Store]]:
    """Open a fresh store twice."""
    pair = open_store(url), open_store(url)
    yield pair
    for one in pair:
        one.close()


async def _wait_for(connection: psycopg.Connection, waiting: int) -> None:
    """Return when so many transactions wait for another's end."""
    until = time.monotonic() + 30
    pause = threading.Event()
    while time.monotonic() < until:
        row = connection.execute(_WAITING, (connection.info.dbname,)).fetchone()
        if row is not None and row[0] >= waiting:
            return
        await asyncio.to_thread(pause.wait, 0.01)
    raise AssertionError(f"there were never {waiting} that wait")


async def _append(store: Store, ids: Sequence[str], score: float) -> list[StoredDecision]:
    return list(
        await asyncio.gather(*(store.ledger.append(record(one, score=score)) for one in ids))
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [(["same"], ["same"]), (["same"], ["own", "same"]), (["b", "a"], ["a", "c", "b"])],
    ids=["alone", "with another", "in another order"],
)
async def test_the_second_answers_with_what_the_first_stored(
    url: str, stores: tuple[Store, Store], first: Sequence[str], second: Sequence[str]
) -> None:
    """Held before its commit, the first has not stored it when the second looks for the id."""
    with psycopg.connect(url) as holder, psycopg.connect(url, autocommit=True) as watcher:
        holder.execute("LOCK TABLE payloads IN SHARE MODE")
        winner = asyncio.create_task(_append(stores[0], first, 0.9))
        await _wait_for(watcher, 1)
        loser = asyncio.create_task(_append(stores[1], second, 0.1))
        await _wait_for(watcher, 2)
        holder.rollback()
        won, lost = await winner, await loser
    assert all(one.created for one in won)
    assert {one.id: (one.created, one.score) for one in lost} == {
        f"d{one}": (one not in first, 0.9 if one in first else 0.1) for one in second
    }
    report = await stores[0].ledger.verify()
    assert (report.fault, report.rows) == (None, len({*first, *second}))


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO meta SELECT * FROM meta",
        "SELECT secret_column FROM meta",
        "SELECT * FROM secret_table",
        "SELECT 'secret_value'::integer",
        "SELECT 1 / 0",
    ],
    ids=["constraint", "column", "table", "value", "sum"],
)
def test_no_name_or_value_of_the_database_is_told(url: str, statement: str) -> None:
    """What the server says of its own tables and their rows is not for who calls the gate."""
    with psycopg.connect(url) as connection, pytest.raises(psycopg.Error) as caught:
        connection.execute(statement)  # type: ignore[call-overload]
    said = str(postgres_error(caught.value, "the store"))
    assert said.startswith("the store ")
    assert not [one for one in ("secret", "meta", "uq_", "pk_", "pkey") if one in said]
