"""Several processes change one mission, and one that dies leaves no half step."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from sureline.adapters.storage.outbox_rows import notices
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.store import open_store
from sureline.application.ports.missions import Change
from sureline.core.chain_export import verify_export
from sureline.core.mission.step import Step
from sureline.core.values.mission import EventKind
from tests.adapters.storage.appending import count_missions
from tests.adapters.storage.mission_samples import HERE, SLICE

ROOT = Path(__file__).parents[3]
_FORKED = multiprocessing.get_context("forkserver")
_FORKED.set_forkserver_preload(
    ["sureline.adapters.storage.store", "sureline.adapters.storage.postgres_database"]
)
EACH, WORKERS = 25, 3


@pytest.fixture(params=["file", "postgres"])
def url(request: pytest.FixtureRequest, path: Path) -> str:
    """Name a fresh store that processes can share."""
    if request.param == "postgres":
        found: str = request.getfixturevalue("postgres").database()
        return found
    return f"sqlite:///{path}"


async def assert_whole(url: str) -> int:
    """Check that every step is there with all that goes with it; return how many there are."""
    store = open_store(url)
    # Waits for the lock that a dead process may hold for a moment longer.
    await store.missions.change(HERE, "m1", lambda one: Change(step=Step(mission=one)))
    found = await store.missions.mission(HERE, "m1")
    assert found is not None
    steps = found.invocations
    assert found.version == steps + 1
    events = await store.missions.events(HERE, "m1", limit=100_000)
    assert [one.kind for one in events] == [EventKind.CREATED, *[EventKind.EVALUATED] * steps]
    assert [one.facts["n"] for one in events[1:]] == list(range(1, steps + 1))
    assert (await store.ledger.route_counts(HERE)).get(SLICE, {}).get("auto_approve", 0) == steps
    for number in range(1, steps + 1):
        assert await store.ledger.decision(HERE, f"m1.1.{number}") is not None
        said = await store.ledger.outcomes(HERE, f"m1.1.{number}")
        assert len(said) == (number < steps)
    with store.database.snapshot() as each:
        assert len(list(each(compiled(notices.select()), ()))) == steps
    report = await store.ledger.verify()
    assert report.fault is None
    assert verify_export(store.ledger.export()).ok
    assert all(one.ok for one in await store.derived.compare())
    store.close()
    return steps


def test_processes_change_one_mission_after_each_other(url: str) -> None:
    """No step is lost or done twice, and none waits for another for ever."""
    children = [
        _FORKED.Process(target=count_missions, args=(url, f"p{number}", EACH))
        for number in range(WORKERS)
    ]
    for child in children:
        child.start()
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0] * WORKERS
    assert asyncio.run(assert_whole(url)) == EACH * WORKERS


def test_a_kill_leaves_no_half_step(url: str) -> None:
    """What was acknowledged is there; the step that was cut off is there whole, or not at all."""
    load = (
        "import sys; from tests.adapters.storage.appending import count_missions; "
        "count_missions(sys.argv[1], 'k', 100_000, report=True)"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", load, url],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(["src", "."])},
    )
    assert child.stdout is not None
    acknowledged = {int(child.stdout.readline()) for _ in range(40)}
    child.send_signal(signal.SIGKILL)
    acknowledged |= {int(line) for line in child.stdout.read().splitlines()[:-1]}
    child.stdout.close()
    child.wait()
    assert asyncio.run(assert_whole(url)) >= len(acknowledged)
