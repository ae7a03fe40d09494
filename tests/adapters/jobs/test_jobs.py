"""Periodic jobs run at their times, once for all processes, and survive what goes wrong.

The same holds on a file, on PostgreSQL, and where the job server's workers run them.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from datetime import timedelta

import pytest

from sureline.adapters.jobs.thread import JobThread
from sureline.application.ports.jobs import Job, JobState
from sureline.errors import InvalidInput, NotFound, Refused, StoreBusy
from tests.adapters.jobs.conftest import HOUR, MINUTE, Place


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

    jobs = place.process("a", work=meanwhile)
    assert [one.message for one in await jobs.run_due()] == ["done"]
    assert place.chore.runs == 0


async def test_workspaces_do_not_share_jobs(place: Place) -> None:
    """Each workspace has its own turn."""
    await place.process().run_due()
    assert len(await place.process(workspace="other").run_due()) == 1


async def test_whoever_dies_does_not_keep_a_job(place: Place) -> None:
    """A lease runs out, and somebody else does the job: late rather than never."""
    dead = place.embedded("dead")
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
        pytest.param(KeyError("a customer's name"), "KeyError at conftest.py:", id="not"),
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
    jobs = place.process(longest_retry=5 * HOUR)
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


async def test_whoever_was_too_slow_has_no_say(place: Place) -> None:
    """A run that outlasts its lease is taken over, and its end changes nothing then (O23)."""
    other = place.embedded("b")

    async def too_long() -> str:
        place.clock.advance(HOUR / 2)
        assert await other.run_if_due("chore") is not None
        return "late"

    assert await place.process("a", work=too_long).run_due() == []
    ((_, kept),) = await other.states()
    assert kept is not None
    assert (kept.owner, kept.message) == ("b", "run 1")


async def test_by_hand_a_lost_lease_is_said(place: Place) -> None:
    """Whoever waits for the result learns that it is not kept."""
    other = place.embedded("b")

    async def too_long() -> str:
        place.clock.advance(HOUR / 2)
        await other.run("chore")
        return "late"

    with pytest.raises(Refused, match="another process runs it again"):
        await place.process("a", work=too_long).run("chore")


async def test_one_owner_cannot_end_its_own_later_run(place: Place) -> None:
    """A claim is known by its moment too: the same process may have begun anew."""
    jobs = place.embedded("a")
    begun = place.clock.now()
    wanted = JobState(
        name="chore", due_at=begun, owner="a", started_at=begun, leased_until=begun + HOUR / 2
    )
    assert await jobs.store.claim("default", wanted, latest=begun) is not None
    place.clock.advance(HOUR / 2)
    assert await jobs.run_if_due("chore") is not None
    assert not await jobs.store.finish("default", wanted)


async def test_a_job_of_another_version_is_left_alone(place: Place) -> None:
    """A worker that does not know a job does not touch it."""
    assert await place.process().run_if_due("invented later") is None


async def test_an_unknown_job_is_named(place: Place) -> None:
    """The answer lists the jobs that there are."""
    with pytest.raises(NotFound, match="there are: chore"):
        await place.process().run("chores")


class _Busy:
    async def run_due(self) -> Sequence[JobState]:
        raise StoreBusy

    async def run_if_due(self, name: str) -> JobState | None:
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
    begun = threading.Event()

    async def work() -> str:
        begun.set()
        return await place.chore()

    with JobThread(place.embedded("a", work=work), tick=3600):
        assert begun.wait(20)
    assert place.chore.runs == 1


async def test_a_thread_that_is_to_stop_begins_nothing(place: Place) -> None:
    """What is due then is left to whoever comes next."""
    jobs = place.embedded("a")
    thread = JobThread(jobs, tick=3600)
    thread.stop()
    await asyncio.to_thread(thread.look)
    assert place.chore.runs == 0
    await jobs.run_due()
    assert place.chore.runs == 1
