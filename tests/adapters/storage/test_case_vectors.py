"""Past cases in PostgreSQL: the same answers as in memory, and nothing that was erased."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sureline.adapters.search.beyond import BeyondWindow, FindStored
from sureline.adapters.search.exact import ExactCaseIndex
from sureline.adapters.storage.case_vector_rows import FILLING, OnPostgres
from sureline.adapters.storage.case_vectors import PostgresCaseVectors
from sureline.adapters.storage.case_vectors_fill import FillCaseVectors
from sureline.adapters.storage.store import Store, open_store
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.cases import Neighbourhood, Searched, StoredCases
from sureline.application.ports.remade_vectors import RemadeVector
from sureline.bootstrap.histories import check_cases
from sureline.bootstrap.plugins import Plugins
from sureline.core.values.outcome import Action
from sureline.errors import StoreBusy, StoreCorrupt, StoreUnavailable
from tests.adapters.storage.samples import MODEL, NOON, outcome, record
from tests.postgres import Postgres

D = 4
ALL = 1_000


@pytest.fixture
def store(postgres: Postgres) -> Iterator[Store]:
    """Open a fresh store on PostgreSQL."""
    opened = open_store(postgres.database())
    yield opened
    opened.close()


def vector(numbers: Sequence[float]) -> bytes:
    """Return numbers as a stored vector of unit length."""
    found = np.array(numbers, dtype=np.float64)
    return (found / np.linalg.norm(found)).astype("<f4").tobytes()


def query(numbers: Sequence[float]) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.frombuffer(vector(numbers), dtype="<f4").astype(np.float32)


async def case(
    store: Store, number: int | str, numbers: Sequence[float], correct: bool = True, **changes: Any
) -> None:
    """Write a decision with a vector, and a verdict on it."""
    stored = changes.pop("stored", None) or vector(numbers)
    made = record(number, vector=stored, **changes)
    await store.ledger.append(made)
    await store.ledger.record_outcome(said(f"d{number}", f"o{number}", correct, made.workspace))


def giving(found: StoredCases | str) -> FindStored:
    """Return what finds these cases."""

    async def find() -> StoredCases | str:
        return found

    return find


class Pair:
    """An index that holds everything, and one with as good as nothing in memory."""

    def __init__(self, store: Store, *, model_id: str = MODEL, seconds: float = 30.0) -> None:
        table = PostgresCaseVectors(store.database, seconds=seconds)  # type: ignore[arg-type]
        self.table = table
        self.embedded = ExactCaseIndex(store.ledger, model_id, dimension=D, most=ALL)
        little = ExactCaseIndex(store.ledger, model_id, dimension=D, most=1)
        self.beyond = BeyondWindow(little, giving(table.of_model(model_id, D)))

    async def ask(self, numbers: Sequence[float], **changes: Any) -> list[Neighbourhood | str]:
        """Ask both; an error is its class's name."""
        asked = {"workspace": "default", "slice_key": "invoices", "k": 2, "window": ALL, **changes}
        found: list[Neighbourhood | str] = []
        for index in (self.embedded, self.beyond):
            await index.refresh()
            try:
                found.append(await index.search(vector=query(numbers), **asked))
            except StoreCorrupt as error:
                found.append(type(error).__name__)
        return found

    def close(self) -> None:
        self.embedded.close()
        self.beyond.close()
        self.table.close()


def assert_same(found: Sequence[Neighbourhood | str]) -> None:
    """Compare two answers: the same cases in the same order, figures up to rounding."""
    one, other = found
    if isinstance(one, str) or isinstance(other, str):
        assert one == other
        return
    assert [(near.decision_id, near.approved) for near in one.neighbours] == [
        (near.decision_id, near.approved) for near in other.neighbours
    ]
    assert [near.similarity for near in one.neighbours] == pytest.approx(
        [near.similarity for near in other.neighbours], abs=1e-5
    )
    assert one.cases == other.cases
    assert (one.spread is None) == (other.spread is None)
    assert one.spread is None or one.spread == pytest.approx(other.spread, abs=1e-4)


_BASES = np.random.default_rng(7).standard_normal((8, D))
_places = st.tuples(st.integers(0, 7), st.sampled_from([0.0, 1e-3, 0.01, 0.2]), st.integers(0, 99))
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("case"), st.integers(0, 11), _places, st.booleans()),
        st.tuples(st.just("case"), st.integers(0, 11), _places, st.booleans()),
        st.tuples(st.just("again"), st.integers(0, 11), _places, st.booleans()),
        st.tuples(st.just("erase"), st.integers(0, 11), _places, st.booleans()),
        st.tuples(st.just("broken"), st.integers(0, 11), _places, st.booleans()),
        st.tuples(st.just("ask"), st.integers(0, 11), _places, st.booleans()),
    ),
    min_size=4,
    max_size=30,
)


def placed(place: tuple[int, float, int]) -> list[float]:
    """Return a vector near one of a few bases: equal ones, near-duplicates and others."""
    base, away, seed = place
    moved = _BASES[base] + away * np.random.default_rng(seed).standard_normal(D)
    return [float(number) for number in moved]


class Play:
    """Writes cases into two workspaces and two slices, under names of its own."""

    def __init__(self, store: Store, number: int) -> None:
        self.store = store
        self.model = f"model-{number}"
        self.number = number
        self.seen: dict[int, dict[str, str]] = {}

    def scope(self, case_number: int) -> dict[str, str]:
        """Return where a case belongs; most of them in the same slice."""
        return {
            "workspace": f"w{self.number}{'b' if case_number == 0 else 'a'}",
            "slice_key": "other" if case_number == 1 else "invoices",
        }

    async def step(self, kind: str, number: int, place: Any, correct: bool) -> None:
        """Carry out one step that makes sense now."""
        name, scope = f"{self.number}-{number}", self.scope(number)
        if kind in {"case", "broken"} and number not in self.seen:
            stored = b"\0" * 12 if kind == "broken" else vector(placed(place))
            await case(self.store, name, (), correct, stored=stored, model_id=self.model, **scope)
            self.seen[number] = scope
        elif kind == "again" and number in self.seen:
            again = said(f"d{name}", f"o{name}-{correct}", correct, scope["workspace"])
            await self.store.ledger.record_outcome(again)
        elif kind == "erase" and number in self.seen:
            await self.store.ledger.erase(
                scope["workspace"], f"d{name}", by="kim", reason="asked", at=NOON
            )


def said(decision_id: str, name: str, correct: bool, workspace: str = "default") -> Any:
    """Return a verdict."""
    action = Action.APPROVE if correct else Action.REJECT
    return outcome(name, decision_id, workspace=workspace, correct=correct, action=action)


_plays = itertools.count(1)


@pytest.fixture(scope="module")
def shared(postgres: Postgres) -> Iterator[Store]:
    """Open one store for all examples: a database for each would take a minute."""
    opened = open_store(postgres.database())
    yield opened
    opened.close()


@settings(max_examples=15, deadline=None)
@given(steps=_steps, k=st.integers(1, 4), window=st.sampled_from([4, 6, ALL]))
def test_beyond_memory_the_answer_is_that_of_an_index_that_holds_everything(
    shared: Store, steps: list[Any], k: int, window: int
) -> None:
    """Later verdicts, erasures, unusable vectors, windows, slices and workspaces included."""

    async def play() -> None:
        played = Play(shared, next(_plays))
        pair = Pair(shared, model_id=played.model)
        try:
            for kind, number, place, correct in (*steps, ("ask", 5, (0, 0.2, 0), True)):
                await played.step(kind, number, place, correct)
                if kind == "ask":
                    assert_same(
                        await pair.ask(
                            placed(place), k=k, window=window, **played.scope(number % 4)
                        )
                    )
        finally:
            pair.close()

    asyncio.run(play())


async def stored_rows(store: Store) -> list[Any]:
    return store.database.fetch(OnPostgres("SELECT decision_id FROM case_vectors ORDER BY 1"))


@pytest.fixture
def pair(store: Store) -> Iterator[Pair]:
    """Open both indexes on a fresh store."""
    made = Pair(store)
    yield made
    made.close()


async def test_the_answer_says_that_everything_was_compared(store: Store, pair: Pair) -> None:
    """What is in memory says `memory`, what is not says `exact`."""
    for number in range(5):
        await case(store, number, placed((number, 0, 0)), correct=number != 3)
    found = await pair.ask(placed((3, 0.01, 1)), k=3)
    assert_same(found)
    assert [one.searched for one in found] == [Searched(), Searched(how="exact")]
    assert found[1].neighbours[0].decision_id == "d3"
    assert not found[1].neighbours[0].approved


async def test_many_near_duplicates_do_not_hide_what_is_behind_them(
    store: Store, pair: Pair
) -> None:
    """They count once, with the newest verdict, however many must be passed."""
    for number in range(3):
        await case(store, f"far{number}", placed((number, 0, 0)))
    for number in range(90):
        await case(store, number, placed((4, 1e-3, number)), correct=number < 89)
    found = await pair.ask(placed((4, 0, 0)), k=3)
    assert_same(found)
    assert [near.approved for near in found[1].neighbours] == [False, True, True]


async def test_an_erased_case_is_gone_with_its_erasure(store: Store, pair: Pair) -> None:
    """The table is not read or filled in between."""
    for number in range(3):
        await case(store, number, placed((number, 0, 0)))
    await pair.ask(placed((0, 0, 0)))
    assert await stored_rows(store) == [("d0",), ("d1",), ("d2",)]
    await store.ledger.erase("default", "d1", by="kim", reason="asked", at=NOON)
    assert await stored_rows(store) == [("d0",), ("d2",)]
    assert_same(await pair.ask(placed((0, 0, 0))))


async def test_what_is_erased_before_it_was_taken_in_does_not_come_back(
    store: Store, pair: Pair
) -> None:
    """Nor does it when everything is read once more."""
    for number in range(3):
        await case(store, number, placed((number, 0, 0)))
    await store.ledger.erase("default", "d1", by="kim", reason="asked", at=NOON)
    await pair.ask(placed((0, 0, 0)))
    await store.database.write(lambda transaction: transaction.run(READ_AGAIN))
    await pair.ask(placed((0, 0, 0)))
    await case(store, 9, placed((5, 0, 0)))
    assert_same(await pair.ask(placed((0, 0, 0))))
    assert await stored_rows(store) == [("d0",), ("d2",), ("d9",)]


READ_AGAIN = OnPostgres("UPDATE case_cursors SET cursor = 0")


async def test_vectors_that_are_made_anew_are_taken_in_and_erased(store: Store) -> None:
    """They belong to verdicts that were read long ago."""
    for number in range(3):
        await case(store, number, placed((number, 0, 0)))
    pair = Pair(store, model_id="new/1")
    try:
        assert_same(await pair.ask(placed((0, 0, 0))))
        found = await store.remade.cases("default", "invoices", "new/1")
        made = [
            RemadeVector(stream=one.stream, seq=one.seq, vector=vector(placed((7 - at, 0, 0))))
            for at, one in enumerate(found)
        ]
        await store.remade.put("default", "new/1", made)
    finally:
        pair.close()
    pair = Pair(store, model_id="new/1")
    try:
        found_now = await pair.ask(placed((6, 0, 0)))
        assert_same(found_now)
        assert found_now[1].cases == 3
        await store.ledger.erase("default", "d2", by="kim", reason="asked", at=NOON)
        assert await stored_rows(store) == [("d0",), ("d1",)]
    finally:
        pair.close()


async def test_labels_that_are_rebuilt_are_read_again(store: Store, pair: Pair) -> None:
    """What was derived from damaged labels must not outlive them."""
    for number in range(3):
        await case(store, number, placed((number, 0, 0)))
    await pair.ask(placed((0, 0, 0)))
    turn = OnPostgres("UPDATE labels SET correct = 0 WHERE decision_id = 'd1'")
    await store.database.write(lambda transaction: transaction.run(turn))
    await store.derived.rebuild(workspace="default", by="kim", at=NOON)
    assert await stored_rows(store) == []
    await case(store, 9, placed((5, 0, 0)))
    assert_same(await pair.ask(placed((1, 0, 0))))


async def test_a_database_that_is_slow_or_away_gives_no_answer_at_all(
    store: Store, postgres: Postgres
) -> None:
    """Fewer cases would be another answer; the gate makes a person of an error."""
    for number in range(3):
        await case(store, number, placed((number, 0, 0)))
    slow = Pair(store, seconds=0.3)
    await slow.ask(placed((0, 0, 0)))
    with psycopg.connect(store.url) as other:
        other.execute("LOCK TABLE case_vectors IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(StoreBusy):
            await slow.ask(placed((0, 0, 0)))
    slow.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await slow.ask(placed((0, 0, 0)))


async def test_the_loop_goes_on_while_the_database_searches(store: Store) -> None:
    """A search is a round trip, and must hold up nobody else."""
    for number in range(3):
        await case(store, number, placed((number, 0, 0)))
    pair = Pair(store)
    await pair.ask(placed((0, 0, 0)))
    with psycopg.connect(store.url) as other:
        other.execute("LOCK TABLE case_vectors IN ACCESS EXCLUSIVE MODE")
        asked = asyncio.create_task(pair.ask(placed((0, 0, 0))))
        await asyncio.sleep(0)
        await store.database.read(OnPostgres("SELECT 1"))
        assert not asked.done()
    assert_same(await asked)
    pair.close()


async def test_a_server_without_the_extension_keeps_a_working_store(postgres: Postgres) -> None:
    """It is searched in memory, and says that the rest was not."""
    url = postgres.database(empty=True)
    name = url.split("?")[0].rsplit("/", 1)[1]
    postgres.run("DROP ROLE IF EXISTS guest")
    postgres.run("CREATE ROLE guest LOGIN")
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("GRANT USAGE, CREATE ON SCHEMA public TO guest")
        owner.execute(f"REVOKE CREATE ON DATABASE {name} FROM PUBLIC".encode())
    store = open_store(url.replace("postgres:@", "guest:@"))
    try:
        for number in range(3):
            await case(store, number, placed((number, 0, 0)))
        assert store.case_vectors is not None
        assert not store.case_vectors.is_there
        assert "permission denied" in str(await store.case_vectors.make())
        await store.ledger.erase("default", "d1", by="kim", reason="asked", at=NOON)
        little = ExactCaseIndex(store.ledger, MODEL, dimension=D, most=1)
        index = BeyondWindow(little, giving("no_extension"))
        await index.refresh()
        found = await index.search(
            workspace="default", slice_key="invoices", vector=query(placed((0, 0, 0))), k=1,
            window=ALL,
        )  # fmt: skip
        assert found.searched.detail == {"searched": "memory", "older": "no_extension"}
        assert found.cases == 1
        with psycopg.connect(url, autocommit=True) as owner:
            owner.execute("CREATE EXTENSION vector")
        assert await store.case_vectors.make() is None
        assert store.case_vectors.is_there
        index.close()
    finally:
        store.close()


SPOILT = {
    "a row is missing": "DELETE FROM case_vectors WHERE decision_id = 'd1'",
    "a verdict is turned": "UPDATE case_vectors SET approved = false WHERE decision_id = 'd1'",
    "a vector is another": "UPDATE case_vectors SET vector = '[1,0,0,0]' WHERE decision_id = 'd1'",
    "a vector is unusable": "UPDATE case_vectors SET vector = NULL WHERE decision_id = 'd1'",
    "a row is too many": "INSERT INTO case_vectors SELECT scope, mark, 'x', approved, vector "
    "FROM case_vectors WHERE decision_id = 'd1'",
}


@pytest.mark.parametrize("change", SPOILT.values(), ids=SPOILT)
async def test_the_check_finds_what_is_not_as_the_ledger_says(
    store: Store, pair: Pair, change: str
) -> None:
    """`ledger verify` looks at every row; taking all in again puts it right.

    The change is one that the table's triggers do not see, such as damage to a file.
    """
    for number in range(4):
        await case(store, number, placed((number, 0, 0)))
    await pair.ask(placed((0, 0, 0)))
    await case(store, 9, placed((5, 0, 0)))
    report = await check_cases(store, Plugins())
    assert (report.ok, report.stored, report.wrong) == (True, 4, 0)

    def spoil(transaction: Transaction) -> None:
        transaction.first(FILLING)
        transaction.run(OnPostgres(change))

    await store.database.write(spoil)
    report = await check_cases(store, Plugins())
    assert (report.ok, report.wrong) == (False, 1)
    await pair.table.empty()
    await pair.ask(placed((0, 0, 0)))
    report = await check_cases(store, Plugins())
    assert (report.ok, report.stored) == (True, 5)


CHANGED = {
    **SPOILT,
    "rows are deleted": "DELETE FROM case_vectors WHERE NOT approved",
    "all rows are deleted": "DELETE FROM case_vectors",
    "it is emptied": "TRUNCATE case_vectors",
    "a slice gets another name": "UPDATE case_scopes SET workspace = 'other'",
    "a slice is deleted": "DELETE FROM case_scopes",
    "verdicts to come are passed over": "UPDATE case_cursors SET cursor = 2 ^ 40",
    "it is forgotten what was read": "DELETE FROM case_cursors",
}


@pytest.mark.parametrize("change", CHANGED.values(), ids=CHANGED)
async def test_what_others_change_is_read_again_before_the_next_search(
    store: Store, pair: Pair, change: str
) -> None:
    """Nobody hides a rejected case from a search, nor turns its verdict; the ledger has it."""
    for number in range(4):
        await case(store, number, placed((number, 0, 0)), correct=number % 2 == 0)
    assert_same(await pair.ask(placed((0, 0, 0))))
    with psycopg.connect(store.url) as owner:
        owner.execute(change.encode())
    assert_same(await pair.ask(placed((0, 0, 0))))
    await case(store, 4, placed((2, 2, 0)), correct=False)
    assert_same(await pair.ask(placed((0, 0, 0))))
    report = await check_cases(store, Plugins())
    assert (report.ok, report.stored) == (True, 5)


async def test_no_table_keeps_a_marker_of_what_was_erased(store: Store, pair: Pair) -> None:
    """Every column of every table is read, the vectors' among them."""
    marker = "[0.5,-0.5,0.5,-0.5]"
    await case(store, "gone", (1, -1, 1, -1))
    await case(store, "kept", placed((1, 0, 0)))
    await pair.ask(placed((0, 0, 0)))
    assert await tables_with(store, marker) == ["case_vectors"]
    assert "vectors" in await tables_with(store, vector((1, -1, 1, -1)).hex())
    await store.ledger.erase("default", "dgone", by="kim", reason="asked", at=NOON)
    assert await tables_with(store, marker) == []
    assert await tables_with(store, vector((1, -1, 1, -1)).hex()) == []


async def tables_with(store: Store, marker: str) -> list[str]:
    """Return the tables in which a text occurs."""
    names = store.database.fetch(
        OnPostgres("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
    )
    return [
        name
        for (name,) in names
        if store.database.fetch(
            OnPostgres(f"SELECT 1 FROM {name} AS t WHERE t::text LIKE %s LIMIT 1"), (f"%{marker}%",)
        )
    ]


async def test_a_line_that_broke_is_made_anew(store: Store, pair: Pair, postgres: Postgres) -> None:
    """A restart of the server costs no decision its history."""
    for number in range(3):
        await case(store, number, placed((number, 0, 0)))
    assert_same(await pair.ask(placed((0, 0, 0))))
    name = store.url.split("?")[0].rsplit("/", 1)[1]
    postgres.run(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
    assert_same(await pair.ask(placed((0, 0, 0))))


async def test_two_that_take_in_at_once_take_in_everything_once(store: Store) -> None:
    """Whoever comes second goes on where the first one was."""
    for number in range(12):
        await case(store, number, placed((number % 8, 0.2, number)))
    table = PostgresCaseVectors(store.database)  # type: ignore[arg-type]
    jobs = [FillCaseVectors(model_id=MODEL, dimension=D, most=2) for _ in range(12)]
    filled = await asyncio.gather(*(store.database.write(job) for job in jobs))
    assert sum(one.cases for one in filled) == 12
    await asyncio.gather(*(table.of_model(MODEL, D).keep_up(2**62) for _ in range(2)))
    report = await check_cases(store, Plugins())
    assert (report.ok, report.stored) == (True, 12)
    table.close()
