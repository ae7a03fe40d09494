"""The index of past cases: built beside the gate, measured, and never half."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import numpy as np
import psycopg
import pytest

from sureline.adapters.search.beyond import BeyondWindow
from sureline.adapters.search.exact import ExactCaseIndex
from sureline.adapters.storage.case_vector_rows import (
    FILLING,
    OnPostgres,
    as_text,
    by_index,
    set_to_search,
)
from sureline.adapters.storage.case_vectors import PostgresCaseVectors
from sureline.adapters.storage.case_vectors_index import INDEX_LOCK, CaseIndexes
from sureline.adapters.storage.case_vectors_status import SqlCaseStatus
from sureline.adapters.storage.postgres_driver import LOCKS
from sureline.adapters.storage.store import Store, open_store
from sureline.errors import Refused
from tests.adapters.storage.samples import MODEL, NOON
from tests.adapters.storage.test_case_vectors import case, giving, query
from tests.postgres import Postgres

ROWS = 1_500
D = 16
UNITS = np.random.default_rng(3).standard_normal((ROWS, D))


@pytest.fixture(scope="module")
def url(postgres: Postgres) -> str:
    """Fill a database with one slice of cases, the first of them by way of the ledger."""
    url = postgres.database()
    store = open_store(url)
    try:
        asyncio.run(_fill(store))
    finally:
        store.close()
    return url


async def _fill(store: Store) -> None:
    for number in range(3):
        await case(store, number, [float(part) for part in UNITS[number]])
    table = PostgresCaseVectors(store.database)  # type: ignore[arg-type]
    await table.of_model(MODEL, D).keep_up(2**62)
    table.close()
    units = UNITS / np.linalg.norm(UNITS, axis=1, keepdims=True)
    with psycopg.connect(store.url) as connection, connection.cursor() as cursor:
        cursor.execute(FILLING.postgres.encode())
        cursor.executemany(
            "INSERT INTO case_vectors (scope, mark, decision_id, approved, vector) "
            "VALUES (1, %s, %s, true, %s::vector)",
            [
                (-number, f"x{number}", as_text(units[number].astype(np.float32)))
                for number in range(3, ROWS)
            ],
        )


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """Open that database."""
    opened = open_store(url)
    yield opened
    opened.close()


@pytest.fixture
def table(store: Store) -> Iterator[PostgresCaseVectors]:
    """Let the index serve small slices, so that the tests are quick."""
    made = PostgresCaseVectors(store.database, seconds=30.0, exact_below=100)  # type: ignore[arg-type]
    yield made
    made.close()


async def state(store: Store) -> str:
    """Return the state of the only slice's index."""
    found = await SqlCaseStatus(store.database).slices("default", in_table=True)
    assert found[0].index is not None
    return found[0].index.state


async def searched(store: Store, table: PostgresCaseVectors, window: int = ROWS) -> str:
    """Return how a search beyond the memory was done, after checking what it found."""
    little = ExactCaseIndex(store.ledger, MODEL, dimension=D, most=1)
    index = BeyondWindow(little, giving(table.of_model(MODEL, D)))
    await index.refresh()
    wanted = [float(number) for number in UNITS[17]]
    found = await index.search(
        workspace="default", slice_key="invoices", vector=query(wanted), k=3, window=window
    )
    index.close()
    assert found.neighbours[0].decision_id == "x17"
    assert found.cases == window
    plain = table.unhurried()
    stored = plain.of_model(MODEL, D)
    exactly = await BeyondWindow(little, giving(stored)).search(
        workspace="default", slice_key="invoices", vector=query(wanted), k=3, window=window
    )
    plain.close()
    assert exactly.searched.how == "exact"
    assert found.neighbours == exactly.neighbours
    assert found.spread is not None
    return found.searched.how


async def test_an_index_is_used_once_it_is_built_and_measured(
    store: Store, table: PostgresCaseVectors
) -> None:
    """Until then, and where it finds too little, everything is compared."""
    assert (await state(store), await searched(store, table)) == ("none", "exact")
    told: list[float] = []
    indexes = CaseIndexes(table)
    assert not await indexes.build(1, D, told.append)
    assert told[-1] == 1.0
    assert (await state(store), await searched(store, table)) == ("there", "exact")
    recall = await indexes.measure(1, D, NOON, queries=50)
    assert 0.9 < recall.low < recall.value <= 1.0
    assert recall.queries == 50
    assert await searched(store, table) == "hnsw"
    assert await searched(store, table, window=400) == "hnsw"
    spoil = OnPostgres("UPDATE case_scopes SET recall_low = 0.5")
    await store.database.write(lambda transaction: transaction.run(spoil))
    assert await searched(store, table) == "exact"
    await store.database.write(
        lambda transaction: transaction.run(OnPostgres("DROP INDEX case_vectors_hnsw_1"))
    )


async def test_the_server_walks_the_index_and_no_row_beside_it(
    store: Store, table: PostgresCaseVectors
) -> None:
    """The query is written so that the index of its slice can answer it, within any window."""
    await CaseIndexes(table).build(1, D, lambda _: None)
    with psycopg.connect(store.url) as connection:
        set_to_search(connection)
        vector = as_text(query([float(number) for number in UNITS[5]]))
        plan = connection.execute(
            f"EXPLAIN {by_index(1, D)}".encode(), (-ROWS // 2, vector, 84)
        ).fetchall()
    assert "Index Scan using case_vectors_hnsw_1" in str(plan)
    await store.database.write(
        lambda transaction: transaction.run(OnPostgres("DROP INDEX case_vectors_hnsw_1"))
    )


@pytest.mark.parametrize("everything", [False, True], ids=["its task", "every task"])
async def test_who_interrupts_the_building_leaves_nothing_behind(
    store: Store, table: PostgresCaseVectors, everything: bool
) -> None:
    """The next one builds as if nothing had been; Ctrl-C cancels every task of the program."""
    with psycopg.connect(store.url) as reader:
        # A transaction that began earlier: the building waits for it, as long as it takes.
        reader.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
        reader.execute("SELECT count(*) FROM case_vectors")
        begun = asyncio.Event()
        building = asyncio.create_task(CaseIndexes(table).build(1, D, lambda _: begun.set()))
        await begun.wait()
        assert await state(store) in {"building", "half", "none"}
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others if everything else {building}:
            task.cancel()
        reader.rollback()
        with pytest.raises(asyncio.CancelledError):
            await building
    assert await state(store) == "none"


async def test_half_an_index_is_dropped_and_said(store: Store, table: PostgresCaseVectors) -> None:
    """A killed process cannot clean up after itself; the server keeps what it had."""
    with psycopg.connect(store.url, autocommit=True) as owner:
        owner.execute("CREATE INDEX case_vectors_hnsw_1 ON case_vectors (mark) WHERE scope = 1")
        owner.execute(
            "UPDATE pg_index SET indisvalid = false "
            "WHERE indexrelid = 'case_vectors_hnsw_1'::regclass"
        )
    assert (await state(store), await searched(store, table)) == ("half", "exact")
    assert await CaseIndexes(table).build(1, D, lambda _: None)
    assert await state(store) == "there"
    await store.database.write(
        lambda transaction: transaction.run(OnPostgres("DROP INDEX case_vectors_hnsw_1"))
    )


async def test_two_cannot_build_at_once(store: Store, table: PostgresCaseVectors) -> None:
    """The second is told, and can try again."""
    with psycopg.connect(store.url) as other:
        other.execute("SELECT pg_advisory_lock(%s, %s)", (LOCKS, INDEX_LOCK))
        with pytest.raises(Refused, match="another process builds"):
            await CaseIndexes(table).build(1, D, lambda _: None)


async def test_vectors_that_no_index_takes_are_compared_one_by_one(
    table: PostgresCaseVectors,
) -> None:
    """There are embedding models with more numbers than that."""
    with pytest.raises(Refused, match="4097"):
        await CaseIndexes(table).build(1, 4_097, lambda _: None)
