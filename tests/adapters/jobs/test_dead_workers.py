"""What a dead worker held is free, judged by the database's clock; what it says later is void."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from sureline.adapters.jobs.tasks import RESCUE, Chores
from sureline.adapters.jobs.worker import app_of
from sureline.adapters.storage.store import Store, open_store
from sureline.application.ports.jobs import JobState, queue_of
from sureline.application.ports.outbox import Claiming, Delivery, DeliveryState
from sureline.bootstrap import Plugins, open_services
from sureline.core.review.pacing import Pace
from tests.adapters.jobs.conftest import nothing
from tests.outbox.told import outbox, policy, submit

HOUR = timedelta(hours=1)
AT = datetime(2026, 5, 1, tzinfo=UTC)


@pytest.fixture
def database(shared: str) -> Iterator[psycopg.Connection]:
    """Connect to the database as the job server sees it, without workers."""
    with psycopg.connect(shared, autocommit=True) as connection:
        for table in ("jobs", "procrastinate_jobs", "procrastinate_workers"):
            connection.execute(f"DELETE FROM {table}".encode())
        yield connection


@pytest.fixture
def store(shared: str) -> Iterator[Store]:
    """Open the store."""
    opened = open_store(shared)
    yield opened
    opened.close()


def worker(database: psycopg.Connection, *, silent: float) -> str:
    """Register a worker whose heart has been silent for so many seconds; return its name."""
    row = database.execute(
        "INSERT INTO procrastinate_workers (last_heartbeat) "
        "VALUES (now() - %s * interval '1 second') RETURNING id",
        (silent,),
    ).fetchone()
    assert row is not None
    return f"worker-{row[0]}"


def claim_of(owner: str, at: datetime = AT) -> JobState:
    return JobState(name="chore", due_at=at, owner=owner, started_at=at, leased_until=at + HOUR)


async def test_a_stalled_worker_that_wakes_up_has_lost_its_job(
    database: psycopg.Connection, store: Store
) -> None:
    """It can neither go on nor end it once another took it over (O23)."""
    stalled, other = worker(database, silent=360), worker(database, silent=0)
    first, second = claim_of(stalled), claim_of(other, AT + timedelta(minutes=6))
    assert await store.jobs.claim("default", first, latest=AT) is not None
    assert await store.jobs.claim("default", second, latest=AT) is None
    assert await store.jobs.release_dead(10) == 1
    assert not await store.jobs.finish("default", first), "its lease has ended"
    assert await store.jobs.claim("default", second, latest=AT) is not None
    assert not await store.jobs.finish("default", first), "another has it"
    assert await store.jobs.finish("default", second)


@pytest.mark.parametrize(
    ("owner", "freed"),
    [
        pytest.param("alive", 0, id="a worker whose heart beats"),
        pytest.param("worker-999999", 1, id="a worker that is not on the list any more"),
        pytest.param("c0ffee", 0, id="a process that is no worker has its lease"),
    ],
)
async def test_only_the_dead_are_robbed(
    database: psycopg.Connection, store: Store, owner: str, freed: int
) -> None:
    """The database's own clock tells: no clock of a process is asked (O22)."""
    name = worker(database, silent=5) if owner == "alive" else owner
    assert await store.jobs.claim("default", claim_of(name), latest=AT) is not None
    assert await store.jobs.release_dead(10) == freed
    assert await store.jobs.release_dead(10) == 0


async def test_what_a_dead_worker_was_sending_is_due_at_once(
    database: psycopg.Connection, shared: str
) -> None:
    """Another sends it; what waits for its next try goes on waiting."""
    services = open_services(shared, plugins=Plugins())
    await services.policies.introduce(policy())
    await submit(services)
    now = services.clock.now()
    await services.store.outbox.spread("default", lambda _: ["team"], now=now, limit=10)
    how = Claiming(
        now=now,
        until=now + HOUR,
        pace=Pace(gap=timedelta(0), burst=10),
        most=10,
        together=False,
        owner=worker(database, silent=60),
    )
    (taken,) = await services.store.outbox.claim("default", "team", how)
    assert await services.store.outbox.due("default", now) == []
    assert await services.store.outbox.release_dead(10) == 1
    again = services.clock.now()
    assert await services.store.outbox.due("default", again) == ["team"]
    await services.store.outbox.finish(
        "default", taken, now=again, state=DeliveryState.WAITING, due_at=again + HOUR, said="error"
    )
    assert await services.store.outbox.release_dead(10) == 0
    (left,) = await outbox(services)
    assert _waits(left, again + HOUR)
    services.close()


def _waits(delivery: Delivery, until: datetime) -> bool:
    return delivery.state is DeliveryState.WAITING and delivery.due_at == until


async def test_a_job_of_a_dead_worker_starts_again_under_another_number(
    database: psycopg.Connection, shared: str
) -> None:
    """Should the dead one wake up, it cannot end what another is doing by then."""
    dead = worker(database, silent=60).removeprefix("worker-")
    queue = queue_of("sweep", "default")
    row = database.execute(
        "INSERT INTO procrastinate_jobs (queue_name, task_name, status, worker_id, lock) "
        "VALUES (%s, 'sweep', 'doing', %s, %s) RETURNING id",
        (queue, dead, queue),
    ).fetchone()
    assert row is not None

    chores = Chores(
        workspace="default",
        sweep=nothing,
        deliver=None,
        run_job=None,
        job_names=(),
        release=nothing,
        end=nothing,
    )
    app = app_of(shared, chores, stalled=10)
    async with app.open_async():
        await app.configure_task(RESCUE, queue=chores.queues()[-1]).defer_async()
        await app.run_worker_async(
            queues=[chores.queues()[-1]],
            wait=False,
            listen_notify=False,
            install_signal_handlers=False,
            delete_jobs="always",
        )
    found = database.execute(
        "SELECT id, status, lock FROM procrastinate_jobs WHERE task_name = 'sweep'"
    ).fetchall()
    assert [(status, lock) for _, status, lock in found] == [("todo", queue)]
    assert found[0][0] != row[0]
