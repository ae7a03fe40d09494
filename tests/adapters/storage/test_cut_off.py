"""A store whose database is slow, cut off or silent: nobody is held up, nothing is lost (O27)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

import psycopg
import pytest

from sureline.adapters.storage.postgres_driver import NoAnswer, connect
from sureline.adapters.storage.postgres_pool import ReadingPool
from sureline.adapters.storage.postgres_presence import Presence
from sureline.adapters.storage.store import Store, open_store
from sureline.errors import StoreBusy, StoreError, StoreUnavailable
from tests.adapters.storage.samples import record
from tests.cut_line import Line, line_to
from tests.postgres import Postgres

PATIENCE = 0.5


@pytest.fixture
def line(postgres: Postgres) -> Iterator[Line]:
    """Put a line before a fresh store."""
    with line_to(postgres.database()) as one:
        yield one


@pytest.fixture
def store(line: Line) -> Iterator[Store]:
    """Open the store behind the line."""
    opened = open_store(line.url, busy_timeout=PATIENCE)
    yield opened
    opened.close()


async def _longest_stall(until: asyncio.Event) -> float:
    """Return the longest time for which the loop did not come round."""
    longest, before = 0.0, time.perf_counter()
    while not until.is_set():
        await asyncio.sleep(0.005)
        now = time.perf_counter()
        longest, before = max(longest, now - before), now
    return longest


async def test_a_slow_database_does_not_hold_up_the_loop(line: Line, store: Store) -> None:
    """While reads of every kind take a fifth of a second, everything else on the loop goes on."""
    await store.ledger.append(record(1))
    await asyncio.gather(*(store.ledger.route_counts("default") for _ in range(4)))
    line.line.delay, done = 0.2, asyncio.Event()
    watch = asyncio.create_task(_longest_stall(done))
    began = time.perf_counter()
    await asyncio.gather(
        store.ledger.decision("default", "d1"),
        store.ledger.outcomes("default", "d1"),
        store.ledger.switches("default"),
        store.ledger.route_counts("default"),
        store.ledger.route_days("default"),
        store.registry.policies(),
        store.registry.active("default", "policy"),
        store.registry.activation_mark(),
        store.keys.find("unknown"),
        store.reviews.get("default", "d1"),
        store.planted.unplanted("default"),
        store.provenance.place("default", "d1"),
    )
    took = time.perf_counter() - began
    done.set()
    assert await watch < 0.15
    assert took >= 0.2


async def test_while_it_is_cut_off_all_are_told_at_once(line: Line, store: Store) -> None:
    """The first who finds out tells the others; it is back for all as soon as the line is."""
    await store.ledger.append(record(1))
    line.cut()
    with pytest.raises(StoreUnavailable):
        await store.ledger.append(record(2))
    began = time.perf_counter()
    asked = [store.ledger.decision("default", "d1") for _ in range(50)]
    made = [store.ledger.append(record(n)) for n in range(3, 53)]
    long = [store.ledger.route_counts("default") for _ in range(20)]
    found = await asyncio.gather(*asked, *made, *long, return_exceptions=True)
    assert {type(one) for one in found} == {StoreUnavailable}
    assert time.perf_counter() - began < PATIENCE
    line.mend()
    for _ in range(200):
        try:
            await store.ledger.append(record(2))
            break
        except StoreUnavailable:
            await asyncio.sleep(0.01)
    assert await store.ledger.route_counts("default")
    report = await store.ledger.verify()
    assert (report.fault, report.rows) == (None, 2)


async def test_silence_is_not_waited_out(line: Line, store: Store) -> None:
    """A line that says nothing more is given up, then everybody is told at once, until it is back.

    Whether the write that was under way was done is not known: asked again under its id, it is
    there once.
    """
    await store.ledger.append(record(1))
    await store.ledger.decision("default", "d1")
    line.silence()
    began = time.perf_counter()
    found = await asyncio.gather(
        store.ledger.append(record(2)),
        store.ledger.decision("default", "d1"),
        return_exceptions=True,
    )
    assert [type(one) for one in found] == [StoreUnavailable] * 2
    assert time.perf_counter() - began < 6 * PATIENCE + 2
    began = time.perf_counter()
    with pytest.raises(StoreUnavailable):
        await store.ledger.append(record(3))
    assert time.perf_counter() - began < PATIENCE
    line.mend()
    for _ in range(300):
        try:
            await store.ledger.append(record(2))
            break
        except StoreError:
            await asyncio.sleep(0.01)
    report = await store.ledger.verify()
    assert (report.fault, report.rows) == (None, 2)


@pytest.mark.parametrize("arrives", [False, True], ids=["before it arrived", "after it arrived"])
async def test_a_line_cut_at_the_commit_leaves_one_decision(
    postgres: Postgres, arrives: bool
) -> None:
    """Unknown is never reported as done; sent again under its id, there is exactly one (O27)."""
    with line_to(postgres.database()) as line:
        store = open_store(line.url, busy_timeout=PATIENCE)
        line.line.cut_at = (b"COMMIT", arrives)
        with pytest.raises(StoreUnavailable, match="nothing was acknowledged"):
            await store.ledger.append(record(1))
        line.mend()
        for _ in range(300):
            try:
                stored = await store.ledger.append(record(1))
                break
            except StoreUnavailable:
                await asyncio.sleep(0.01)
        assert stored.id == "d1"
        report = await store.ledger.verify()
        assert (report.fault, report.rows) == (None, 1)
        store.close()


def test_a_connection_without_an_answer_ends(line: Line) -> None:
    """It says for how long it waited, tells who wants to know, and is closed."""
    connection = connect(line.url, patience=PATIENCE, longest=PATIENCE)
    told: list[psycopg.Error] = []
    connection.silent, connection.answer_seconds = told.append, 0.05
    line.silence()
    with pytest.raises(NoAnswer, match=r"no answer for 0\.05 seconds"):
        connection.execute("SELECT 1")
    assert (len(told), connection.closed) == (1, True)


def test_the_server_ends_what_takes_too_long(postgres: Postgres) -> None:
    """It is told how long a statement may take, so that it does not work on for nobody."""
    with connect(postgres.url, patience=PATIENCE, longest=0.05) as connection:
        with pytest.raises(psycopg.errors.QueryCanceled, match="statement timeout"):
            connection.execute("SELECT pg_sleep(5)")
        assert not connection.closed


def test_a_borrowed_connection_always_comes_back(postgres: Postgres) -> None:
    """Whatever goes wrong with sixty borrowers, ten connections remain ten (O09)."""
    made = []

    def one() -> psycopg.Connection:
        made.append(connect(postgres.url, patience=1))
        return made[-1]

    pool = ReadingPool(one, "the database", most=2, patience=0.01)

    def fail(number: int) -> None:
        with pool.borrowed() as connection:
            if number % 3 == 0:
                connection.execute("BEGIN")
            raise ZeroDivisionError

    for number in range(60):
        with pytest.raises(ZeroDivisionError):
            fail(number)
    with (
        pool.borrowed(),
        pool.borrowed(),
        pytest.raises(StoreBusy, match="all 2 reading connections"),
        pool.borrowed(),
    ):
        pass
    with pool.borrowed() as lent:
        pool.close()
        assert not lent.closed, "who still uses one may end"
    assert all(connection.closed for connection in made)


def test_one_thread_finds_out_that_it_is_back() -> None:
    """While it is away nobody else tries; a closed store looks no further."""
    tries: list[float] = []

    def away() -> psycopg.Connection:
        tries.append(time.perf_counter())
        raise psycopg.OperationalError("gone")

    presence = Presence(away, "the database", every=60)
    for _ in range(100):
        with pytest.raises(psycopg.OperationalError, match="gone"):
            presence.connect()
    assert len(tries) == 1
    presence.stop()
    with pytest.raises(psycopg.OperationalError, match="gone"):
        presence.connect()
    assert len(tries) == 2
    presence.stop()


async def test_one_bad_row_on_a_slow_line_makes_its_neighbours_wait_once(
    line: Line, store: Store
) -> None:
    """Each is tried alone only for as long as a batch may take; the rest go together again."""
    await store.ledger.append(record(1))
    line.line.delay = 0.03
    rows = [record(2, score_bin=2**40), *(record(n) for n in range(3, 60))]
    began = time.perf_counter()
    found = await asyncio.gather(*map(store.ledger.append, rows), return_exceptions=True)
    assert time.perf_counter() - began < 6
    assert [type(one) for one in found if isinstance(one, BaseException)] == [StoreError]
    line.line.delay = 0.0
    assert (await store.ledger.verify()).rows == 58
