"""Periodic jobs run at their times, once for all processes, and survive what goes wrong."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from sureline.adapters.jobs.embedded import EmbeddedJobs
from sureline.adapters.jobs.thread import JobThread
from sureline.adapters.storage.store import Store, open_store
from sureline.application.ports.jobs import Job, JobState
from sureline.errors import InvalidInput, NotFound, Refused, StoreBusy
from sureline.testing import FixedClock

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


class Chore:
    """A job that counts its runs, and raises what it is told to."""

    def __init__(self) -> None:
        self.runs = 0
        self.wrong: Exception | None = None

    async def __call__(self) -> str:
        self.runs += 1
        if self.wrong is not None:
            raise self.wrong
        return f"run {self.runs}"


class Place:
    """A store on a file with a chore, and processes that look after it."""

    def __init__(self, path: Path) -> None:
        self.url = f"sqlite:///{path}"
        self.clock = FixedClock()
        self.chore = Chore()
        self.stores: list[Store] = []

    def process(self, owner: str = "a", workspace: str = "default") -> EmbeddedJobs:
        store = open_store(self.url)
        self.stores.append(store)
        return EmbeddedJobs(
            store=store.jobs,
            jobs=[Job(name="chore", about="Do it.", interval=HOUR, run=self.chore)],
            clock=self.clock,
            owner=owner,
            workspace=workspace,
            lease=HOUR / 2,
            first_retry=MINUTE,
        )


@pytest.fixture
def place(tmp_path: Path) -> object:
    """Make an empty place and let go of it."""
    made = Place(tmp_path / "store.db")
    yield made
    for store in made.stores:
        store.close()


async def test_a_job_runs_at_its_interval(place: Place) -> None:
    """At first at once, then not before an hour has gone."""
    jobs = place.process()
    (state,) = await jobs.run_due()
    assert (state.message, state.failures) == ("run 1", 0)
    assert await jobs.run_due() == []
    place.clock.advance(HOUR - MINUTE)
    assert await jobs.run_due() == []
    place.clock.advance(MINUTE)
    assert [one.message for one in await jobs.run_due()] == ["run 2"]


async def test_a_restart_neither_repeats_nor_forgets(place: Place) -> None:
    """What ran is not run again, and what was missed is made up for once."""
    await place.process().run_due()
    assert await place.process("later").run_due() == []
    place.clock.advance(5 * HOUR)
    assert len(await place.process("much later").run_due()) == 1
    assert place.chore.runs == 2


async def test_processes_on_one_store_run_a_job_once(place: Place) -> None:
    """While one is at it the others leave it, and by hand it is refused."""
    other = place.process("b")

    async def meanwhile() -> str:
        assert await other.run_due() == []
        with pytest.raises(Refused, match="another process"):
            await other.run("chore")
        return "done"

    jobs = place.process("a")
    slow = Job(name="chore", about="Do it.", interval=HOUR, run=meanwhile)
    object.__setattr__(jobs, "jobs", [slow])
    assert [one.message for one in await jobs.run_due()] == ["done"]
    assert place.chore.runs == 0


async def test_workspaces_do_not_share_jobs(place: Place) -> None:
    """Each workspace has its own turn."""
    await place.process().run_due()
    assert len(await place.process(workspace="other").run_due()) == 1


async def test_whoever_dies_does_not_keep_a_job(place: Place) -> None:
    """A lease runs out, and somebody else does the job: late rather than never."""
    dead = place.process("dead")
    wanted = JobState(
        name="chore",
        due_at=place.clock.now(),
        owner="dead",
        started_at=place.clock.now(),
        leased_until=place.clock.now() + HOUR / 2,
    )
    await dead.store.claim("default", wanted, latest=place.clock.now())
    assert await place.process("b").run_due() == []
    place.clock.advance(HOUR / 2)
    assert len(await place.process("b").run_due()) == 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        pytest.param(InvalidInput("no policy is active"), "no policy is active", id="ours"),
        pytest.param(KeyError("a customer's name"), "KeyError at test_embedded_jobs.py:", id="not"),
    ],
)
async def test_a_failure_is_kept_and_tried_again_later(
    place: Place, wrong: Exception, message: str
) -> None:
    """Retries come after 1, 2, 4 ... minutes, and the error is shown without data in it."""
    jobs = place.process()
    place.chore.wrong = wrong
    (state,) = await jobs.run_due()
    assert state.message is not None
    assert state.message.startswith(message)
    for failures, minutes in ((1, 1), (2, 2), (3, 4)):
        ((_, kept),) = await jobs.states()
        assert kept is not None
        assert kept.failures == failures
        assert kept.due_at == place.clock.now() + minutes * MINUTE
        place.clock.advance(minutes * MINUTE)
        await jobs.run_due()
    place.chore.wrong = None
    (state,) = [await jobs.run("chore")]
    assert (state.failures, state.due_at) == (0, place.clock.now() + HOUR)


async def test_backing_off_ends_at_the_interval(place: Place) -> None:
    """However often it fails, it is tried at least as often as it should run."""
    jobs = place.process()
    place.chore.wrong = ValueError()
    for _ in range(40):
        state = await jobs.run("chore")
    assert state.due_at == place.clock.now() + HOUR


async def test_a_job_that_looks_often_may_back_off_for_longer(place: Place) -> None:
    """After failures in a row it is left alone for its own longest time."""
    jobs = place.process()
    jobs = replace(jobs, jobs=[replace(jobs.jobs[0], longest_retry=5 * HOUR)])
    place.chore.wrong = ValueError()
    for _ in range(40):
        state = await jobs.run("chore")
    assert state.due_at == place.clock.now() + 5 * HOUR
    assert await jobs.run_due() == []
    place.clock.advance(5 * HOUR)
    place.chore.wrong = None
    (state,) = await jobs.run_due()
    assert state.due_at == place.clock.now() + HOUR


async def test_a_clock_that_was_wrong_does_not_stop_a_job(place: Place) -> None:
    """A next time that lies further away than the interval was written by a wrong clock."""
    place.clock.advance(timedelta(days=3650))
    jobs = place.process()
    await jobs.run_due()
    place.clock.advance(timedelta(days=-3650))
    assert len(await jobs.run_due()) == 1


async def test_an_unknown_job_is_named(place: Place) -> None:
    """The answer lists the jobs that there are."""
    with pytest.raises(NotFound, match="there are: chore"):
        await place.process().run("chores")


class _Busy:
    async def run_due(self) -> Sequence[JobState]:
        raise StoreBusy

    async def run(self, name: str) -> JobState:
        raise StoreBusy

    async def states(self) -> Sequence[tuple[Job, JobState | None]]:
        raise StoreBusy


def test_a_store_that_is_busy_does_not_end_the_thread(caplog: pytest.LogCaptureFixture) -> None:
    """It is logged and tried again at the next look."""
    with caplog.at_level(logging.WARNING):
        JobThread(_Busy()).look()
    assert "Another process holds the store" in caplog.text


def test_the_thread_looks_at_once_and_ends_when_told(place: Place) -> None:
    """A server that starts does what was missed, and leaving it stops the thread."""
    with JobThread(place.process(), tick=3600):
        pass
    assert place.chore.runs == 1
