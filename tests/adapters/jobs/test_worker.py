"""Workers on a real PostgreSQL, over real HTTP: killed, cut off, stopped; nothing is lost."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from sureline.adapters.jobs.tasks import beside
from sureline.adapters.jobs.worker import WorkerSettings, WorkerThread
from sureline.bootstrap import Services, open_services
from sureline.bootstrap.working import chores_of, worker_thread
from sureline.errors import InvalidInput, StoreError
from tests.outbox.told import outbox, policy, submit, webhook
from tests.postgres import Postgres
from tests.receivers import SECRET, receiving

ROOT = Path(__file__).parents[3]
QUICK = WorkerSettings(heartbeat=0.2, stalled=1.0, patience=10.0, again=0.1)
WORKS = """
import sys, time
from sureline.adapters.jobs.worker import WorkerSettings
from sureline.bootstrap import open_services
from sureline.bootstrap.working import worker_thread

services = open_services(sys.argv[1])
settings = WorkerSettings(heartbeat=0.2, stalled=1.0, again=0.1)
with worker_thread(services, jobs=False, deliver=True, settings=settings):
    print("works", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def url(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> str:
    """Make a store of its own: workers leave nothing alone."""
    monkeypatch.setenv("HOOK_SECRET", SECRET)
    return postgres.database()


@pytest.fixture
def services(url: str) -> Iterator[Services]:
    """Open the store."""
    opened = open_services(url)
    yield opened
    opened.close()


def wait_for(happened: Callable[[], object], seconds: float = 20.0) -> None:
    """Wait for what another thread or process does."""
    until = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.02)


@contextmanager
def worker_process(url: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker as a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    process = subprocess.Popen(
        [sys.executable, "-c", WORKS, url], env=environment, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"works\n"
        yield process
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


def count(url: str, table: str) -> int:
    with psycopg.connect(url) as connection:
        row = connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone()
    return 0 if row is None else int(row[0])


def submitted(services: Services, number: int) -> bool:
    """Decide, unless the store is still away."""
    try:
        asyncio.run(submit(services, number))
    except StoreError:
        return False
    return True


def delivered(services: Services, count: int) -> bool:
    found = asyncio.run(outbox(services))
    return sum(one.state == "delivered" for one in found) == count


@pytest.mark.slow
def test_a_worker_does_all_there_is_to_do(url: str, services: Services) -> None:
    """Jobs run, verdicts and notices go out, the ledger is sealed; then it stops at once."""
    with receiving() as receiver:
        asyncio.run(services.policies.introduce(policy(webhook(receiver.url, events="[opened]"))))
        with worker_thread(services, jobs=True, deliver=True, settings=QUICK):
            wait_for(lambda: all(state for _, state in asyncio.run(services.jobs.states())))
            asyncio.run(submit(services))
            wait_for(lambda: receiver.received)
            wait_for(lambda: delivered(services, 1))
            wait_for(lambda: count(url, "seals"))
            begun = time.monotonic()
        assert time.monotonic() - begun < 5
    assert count(url, "procrastinate_workers") == 0, "it has signed off"


@pytest.mark.slow
def test_a_kill_amid_a_delivery_loses_nothing(url: str, services: Services) -> None:
    """Another worker sends again what was under way, under the same ids, within seconds."""
    hangs = threading.Event()

    def says(number: int) -> int:
        if number != 2:
            return 200
        hangs.set()
        return 0

    with receiving(says) as receiver:
        asyncio.run(services.policies.introduce(policy(webhook(receiver.url, events="[opened]"))))
        for number in range(6):
            asyncio.run(submit(services, number))
        with worker_process(url) as first:
            assert hangs.wait(20)
            with worker_process(url):
                first.send_signal(signal.SIGKILL)
                first.wait()
                begun = time.monotonic()
                wait_for(lambda: delivered(services, 6))
                took = time.monotonic() - begun
        came = [one.id for one in receiver.received]
    found = asyncio.run(outbox(services))
    assert sorted(set(came)) == sorted(one.id for one in found)
    assert came.count(came[1]) == 2
    assert len(came) <= 8, "only what was under way comes twice"
    assert took < 12, "a heart that is silent for one second here is ten otherwise"


@pytest.mark.slow
def test_a_database_that_is_away_is_waited_for(
    postgres: Postgres, url: str, services: Services, caplog: pytest.LogCaptureFixture
) -> None:
    """The worker says so once, goes on by itself, and tells what was written meanwhile."""
    name = url.split("?")[0].rsplit("/", 1)[1]
    with receiving() as receiver:
        asyncio.run(services.policies.introduce(policy(webhook(receiver.url, events="[opened]"))))
        asyncio.run(submit(services))
        with worker_thread(services, jobs=False, deliver=True, settings=QUICK):
            wait_for(lambda: len(receiver.received) == 1)
            postgres.run(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
            postgres.run(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                f"WHERE datname = '{name}' AND application_name LIKE 'sureline%'"
            )
            wait_for(lambda: "goes on as soon as it can" in caplog.text)
            time.sleep(0.5)  # some tries in vain
            postgres.run(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
            wait_for(lambda: submitted(services, 1))
            wait_for(lambda: len(receiver.received) == 2)
    said = [line for line in caplog.messages if line.startswith("worker: ")]
    assert len(said) < 5, said
    assert "Traceback" not in caplog.text


def test_what_is_under_way_is_finished_when_it_stops(shared: str) -> None:
    """Nobody else needs to do it again, and its result is kept."""
    services = open_services(shared)
    begun, may_end = threading.Event(), threading.Event()
    chores = chores_of(services, jobs=True, deliver=False)
    ended: list[str] = []

    async def slow(owner: str, name: str) -> None:
        begun.set()
        await asyncio.to_thread(may_end.wait, 20)
        ended.append(name)

    chores = replace(chores, run_job=slow, job_names=["watch"], sweep=None)
    thread = WorkerThread(shared, lambda: chores, settings=QUICK, check=lambda: None)
    with thread:
        assert begun.wait(20)
        thread._stopping.set()
        time.sleep(0.3)
        assert thread._thread.is_alive()
        may_end.set()
    assert ended == ["watch"]
    services.close()


def test_one_workspace_s_worker_leaves_the_others_alone(shared: str) -> None:
    """Each has queues of its own, whose names the job server can tell of."""
    one, other = (open_services(shared, workspace=name) for name in ("a", "b" * 500))
    queues = [set(chores_of(s, jobs=True, deliver=True).queues()) for s in (one, other)]
    assert not queues[0] & queues[1]
    assert max(map(len, queues[0] | queues[1])) <= 40
    for services in (one, other):
        services.close()


def test_what_others_do_has_no_queue(shared: str) -> None:
    """A worker takes nothing that it was told to leave."""
    services = open_services(shared)
    found = chores_of(services, jobs=False, deliver=True).queues()
    assert [queue.split("-")[0] for queue in found] == ["sweep", "deliver", "rescue"]
    services.close()


async def test_what_goes_wrong_beside_is_raised_here() -> None:
    """Work on a thread of its own ends as if it were here."""

    async def wrong() -> None:
        raise InvalidInput("so it is")

    with pytest.raises(InvalidInput, match="so it is"):
        await beside(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param({"concurrency": 0}, id="nothing at once"),
        pytest.param({"heartbeat": 2.0, "stalled": 4.0}, id="dead after two beats"),
        pytest.param({"heartbeat": 0.0}, id="no heartbeat"),
    ],
)
def test_settings_that_make_no_sense_are_refused(wrong: dict[str, float]) -> None:
    """A worker that is taken for dead while it lives would never end anything."""
    with pytest.raises(InvalidInput, match="expected"):
        WorkerSettings(**wrong)  # type: ignore[arg-type]


def test_a_file_has_no_job_server() -> None:
    """Only PostgreSQL has one."""
    services = open_services("sqlite://")
    with pytest.raises(InvalidInput, match="only a store on PostgreSQL"):
        worker_thread(services, jobs=True, deliver=True, settings=QUICK)
    services.close()
