"""What waits for a batch is bounded, and what nobody waits for is not done."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from sureline.adapters.storage.batch import run_jobs
from sureline.adapters.storage.gathering import LATER, Crowded, Gathering, Stopped


class Held:
    """A batch that is held until `go` is set; remembers what was done."""

    def __init__(self, at_most: int = 1_000) -> None:
        self.go = threading.Event()
        self.begun = threading.Event()
        self.at_most = at_most
        self.batches: list[list[Any]] = []

    def __call__(self, jobs: Sequence[Any]) -> Sequence[Any]:
        self.begun.set()
        assert self.go.wait(10)
        done = list(jobs[: self.at_most])
        self.batches.append(done)
        return [*done, *[LATER] * (len(jobs) - len(done))]


@pytest.fixture
def held() -> Iterator[Held]:
    """A batch that lets go at the end, whatever the test did."""
    one = Held()
    yield one
    one.go.set()


async def _begun(gathering: Gathering, held: Held) -> asyncio.Task[Any]:
    """Hand in a job and return once its batch has begun."""
    first = asyncio.create_task(gathering.submit("first"))
    await asyncio.to_thread(held.begun.wait, 10)
    return first


async def test_more_than_may_wait_are_refused_at_once(held: Held) -> None:
    """The queue has an end, and whoever comes then is told; those in it are served."""
    gathering = Gathering(held, name="test", most=2)
    first = await _begun(gathering, held)
    waiting = [asyncio.create_task(gathering.submit(n)) for n in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(Crowded):
        await gathering.submit("one too many")
    held.go.set()
    assert await asyncio.gather(first, *waiting) == ["first", 0, 1]
    gathering.close()
    assert held.batches == [["first"], [0, 1]]


async def test_who_waited_too_long_is_sent_away_and_nothing_is_done(held: Held) -> None:
    """Its batch had not begun, so that it is certain."""
    gathering = Gathering(held, name="test", longest=0.02)
    first = await _begun(gathering, held)
    with pytest.raises(Crowded):
        await gathering.submit("late")
    held.go.set()
    assert await first == "first"
    assert await gathering.submit("again") == "again"
    gathering.close()
    assert held.batches == [["first"], ["again"]]


async def test_who_gave_up_before_the_batch_began_is_left_out(held: Held) -> None:
    """A decision that nobody waits for any more does not come to be."""
    gathering = Gathering(held, name="test")
    first = await _begun(gathering, held)
    gone, stayed = (asyncio.create_task(gathering.submit(n)) for n in ("gone", "stayed"))
    await asyncio.sleep(0)
    gone.cancel()
    held.go.set()
    assert await first == "first"
    assert await stayed == "stayed"
    gathering.close()
    assert held.batches == [["first"], ["stayed"]]


async def test_what_a_batch_did_not_come_to_is_first_in_the_next() -> None:
    """Nobody is served twice, nobody is passed over, and closing does the rest as well."""
    held = Held(at_most=2)
    gathering = Gathering(held, name="test")
    held.go.set()
    assert await asyncio.gather(*(gathering.submit(n) for n in range(5))) == list(range(5))
    assert held.batches == [[0, 1], [2, 3], [4]]
    held.batches.clear()
    held.go.clear()
    held.begun.clear()
    first = await _begun(gathering, held)
    rest = [asyncio.create_task(gathering.submit(n)) for n in range(3)]
    await asyncio.sleep(0)
    closing = asyncio.create_task(asyncio.to_thread(gathering.close))
    held.go.set()
    assert await asyncio.gather(first, *rest) == ["first", 0, 1, 2]
    await closing
    with pytest.raises(Stopped):
        await gathering.submit("after")


async def test_whatever_a_batch_raises_its_callers_hear_and_it_goes_on() -> None:
    """A thread that died would leave everybody waiting."""

    def broken(jobs: Sequence[Any]) -> Sequence[Any]:
        if "bad" in jobs:
            raise ZeroDivisionError
        return jobs

    gathering = Gathering(broken, name="test")
    found = await asyncio.gather(
        *(gathering.submit(one) for one in ("bad", "good")), return_exceptions=True
    )
    assert [type(one) for one in found] == [ZeroDivisionError] * 2
    assert await gathering.submit("good") == "good"
    gathering.close()


@pytest.mark.parametrize("enough", [True, False])
def test_a_batch_always_does_something(enough: bool) -> None:
    """However slow it is, it goes on: one job at least."""
    jobs: list[Any] = [lambda _, n=n: n for n in range(3)]
    found = run_jobs(None, jobs, enough=lambda: enough)  # type: ignore[arg-type]
    assert found == ([0, LATER, LATER] if enough else [0, 1, 2])
