"""Rows of area 7-ops about work that processes share: claims, leases, and what is to be told."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from sureline.adapters.clock import SystemClock
from sureline.adapters.storage.store import open_store
from sureline.application.ports.jobs import JobState
from sureline.application.ports.outbox import DeliveryState
from sureline.bootstrap import Plugins, courier_of, open_services
from sureline.errors import StoreBusy
from sureline.testing import FixedClock
from tests.adapters.storage.samples import NOON, record
from tests.cases.stores import both, in_processes, on_file, rows
from tests.cases.test_history_cases import Cases
from tests.outbox.told import outbox, policy, submit, webhook
from tests.postgres import Postgres
from tests.receivers import SECRET, receiving

HOUR = timedelta(hours=1)
EACH = 25
MOST_SECONDS = 4.0
"""Less than the five seconds after which waiting for a lock is given up."""


def claim_of(owner: str, at: datetime = NOON, lease: timedelta = HOUR) -> JobState:
    return JobState(name="chore", due_at=at, owner=owner, started_at=at, leased_until=at + lease)


def claim_and_decide(url: str, owner: str) -> None:
    """Claim a job, append a decision, end the job, again and again; the body of a process."""

    async def work() -> None:
        store = open_store(url)
        for number in range(EACH):
            began = time.perf_counter()
            mine = claim_of(owner, NOON + number * HOUR)
            before, stored = await asyncio.gather(
                store.jobs.claim("default", mine, latest=NOON),
                store.ledger.append(record(f"{owner}-{number}")),
            )
            assert stored.created
            if before is not None:
                await store.jobs.finish("default", replace(mine, leased_until=None))
            assert time.perf_counter() - began < MOST_SECONDS
        store.close()

    asyncio.run(work())


def test_o02_claims_and_decisions_never_lock_each_other_out(
    cases: Cases, tmp_path: Path, postgres: Postgres
) -> None:
    """Two processes that claim and decide are never refused, and no caller waits for long.

    The write lock is taken at BEGIN, so nothing is half done when it cannot be had.
    """
    given = cases["O02"]["input"]
    assert given["mix"] == "claim job + insert decision"
    owners = [f"p{number}" for number in range(given["processes"])]
    for url in both(tmp_path, postgres):
        open_store(url).close()
        assert in_processes(claim_and_decide, [(url, owner) for owner in owners]) == [0, 0]
        store = open_store(url, busy_timeout=0.05)
        report = asyncio.run(store.ledger.verify())
        assert (report.fault, report.rows) == (None, len(owners) * EACH)
        if on_file(url):
            asyncio.run(refused_at_begin(url))
        store.close()


async def refused_at_begin(url: str) -> None:
    """Somebody else has the write lock: both kinds of writing are refused whole."""
    holder = open_store(url)
    store = open_store(url, busy_timeout=0.05)
    late = claim_of("late", NOON + 900 * HOUR)
    lock = holder.database._writing  # type: ignore[attr-defined]
    lock.execute("BEGIN IMMEDIATE")
    for work in (
        store.jobs.claim("default", late, latest=NOON),
        store.ledger.append(record("late")),
    ):
        with pytest.raises(StoreBusy):
            await work
    lock.execute("ROLLBACK")
    assert await store.ledger.decision("default", "dlate") is None
    assert await store.jobs.claim("default", late, latest=NOON) is not None
    assert (await store.ledger.append(record("late"))).created
    store.close()
    holder.close()


def register_worker(url: str, *, silent: float) -> str:
    """Put a worker on the job server's list whose heart was silent for so many seconds."""
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(
            "INSERT INTO procrastinate_workers (last_heartbeat) "
            "VALUES (now() - %s * interval '1 second') RETURNING id",
            (silent,),
        ).fetchone()
    assert row is not None
    return f"worker-{row[0]}"


async def test_o22_no_clock_of_a_process_takes_a_live_lease(
    cases: Cases, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker whose clock is 300 seconds fast takes over nothing that another still holds.

    Moments that processes compare come from the database, and whether a worker is dead is judged
    there. On a file all processes are on one machine, so that they share its clock.
    """
    skew = timedelta(seconds=cases["O22"]["input"]["worker_clock_skew_s"])
    url = postgres.database()
    mine = open_services(url)
    true = SystemClock().now()
    monkeypatch.setattr(SystemClock, "now", lambda _: true + skew)
    theirs = open_services(url)
    for services in (mine, theirs):
        await services.ledger.route_counts("default")
        assert abs(services.clock.now() - true) < skew / 10
    held = claim_of(register_worker(url, silent=0), mine.clock.now(), lease=skew / 2)
    assert await mine.store.jobs.claim("default", held, latest=NOON) is not None
    other = claim_of("b", theirs.clock.now(), lease=skew / 2)
    assert await theirs.store.jobs.claim("default", other, latest=NOON) is None
    assert await theirs.store.jobs.release_dead(10) == 0
    assert await mine.store.jobs.finish("default", replace(held, leased_until=None))
    mine.close()
    theirs.close()


async def test_o23_a_stalled_worker_gets_nothing_back(
    cases: Cases, tmp_path: Path, postgres: Postgres
) -> None:
    """A stalls, B takes over; then A can neither renew its lease nor hand in a result."""
    assert cases["O23"]["input"]["steps"][-1] == "A renews"
    stall = timedelta(minutes=6)
    for url in both(tmp_path, postgres):
        store = open_store(url)
        a = claim_of("a", lease=stall / 2)
        b = claim_of("b", NOON + stall, lease=stall)
        assert await store.jobs.claim("default", a, latest=NOON) is not None
        assert await store.jobs.claim("default", b, latest=NOON) is not None
        again = claim_of("a", NOON + stall, lease=stall)
        assert await store.jobs.claim("default", again, latest=NOON) is None
        assert not await store.jobs.finish("default", replace(a, message="A's result"))
        assert await store.jobs.finish("default", replace(b, leased_until=None, message="B's"))
        (state,) = await store.jobs.states("default")
        assert (state.owner, state.message) == ("b", "B's")
        store.close()


async def test_o24_what_was_never_tried_is_told_all_the_same(
    cases: Cases, tmp_path: Path, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process ends between the commit and the telling; another finds the row, which is due."""
    assert cases["O24"]["input"]["fault"] == "crash between commit and enqueue"
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    with receiving() as receiver:
        for url in both(tmp_path, postgres):
            clock = FixedClock(datetime.now(UTC))  # noqa: TID251 - the receiver checks the time
            first = open_services(url, plugins=Plugins(clock=clock))
            await first.policies.introduce(policy(webhook(receiver.url, events="[opened]")))
            await submit(first)
            first.close()  # as a crash leaves it: written, and nobody was told of it
            assert rows(url, "SELECT count(*) FROM notices WHERE spread_at IS NULL") == [(1,)]
            second = open_services(url, plugins=Plugins(clock=clock))
            await courier_of(second).round()
            (told,) = await outbox(second)
            assert told.state is DeliveryState.DELIVERED
            second.close()
            assert rows(url, "SELECT count(*) FROM deliveries WHERE due_at IS NULL") == [(0,)]
    assert len(receiver.received) == 2
