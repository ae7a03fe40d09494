"""Equal questions at once share one call, and nobody's leaving harms another."""

from __future__ import annotations

import asyncio
import gc

import pytest

from sureline.adapters.models.flights import Flights
from sureline.adapters.models.turns import Turns
from sureline.errors import ModelFailed


class Call:
    """A call that ends when it is told to."""

    def __init__(self) -> None:
        self.begun = 0
        self.cancelled = False
        self.end = asyncio.Event()
        self.error: Exception | None = None

    async def __call__(self) -> str:
        self.begun += 1
        try:
            await self.end.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        if self.error is not None:
            raise self.error
        return "said"


async def begin(flights: Flights[str], call: Call, callers: int) -> list[asyncio.Task[object]]:
    tasks = [asyncio.create_task(flights.share("key", call)) for _ in range(callers)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return tasks


async def test_one_call_serves_all() -> None:
    """The first caller's is its own; the others hear that they joined."""
    flights, call = Flights[str](), Call()
    tasks = await begin(flights, call, 3)
    call.end.set()
    assert await asyncio.gather(*tasks) == [("said", False), ("said", True), ("said", True)]
    assert call.begun == 1
    assert await flights.share("key", call) == ("said", False)
    assert call.begun == 2


async def test_a_caller_that_gives_up_does_not_end_the_call() -> None:
    """Not even the one who began it."""
    flights, call = Flights[str](), Call()
    tasks = await begin(flights, call, 2)
    tasks[0].cancel()
    await asyncio.wait([tasks[0]])
    call.end.set()
    assert await tasks[1] == ("said", True)


async def test_the_last_caller_that_gives_up_ends_the_call() -> None:
    """Nobody pays for an answer that no one waits for; the next caller begins anew."""
    flights, call = Flights[str](), Call()
    tasks = await begin(flights, call, 2)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)
    again = await begin(flights, call, 1)
    assert (call.cancelled, call.begun) == (True, 2)
    call.end.set()
    assert await again[0] == ("said", False)


async def test_a_failure_reaches_all_and_is_not_kept() -> None:
    """Each caller sees the error; the next one asks anew."""
    flights, call = Flights[str](), Call()
    call.error = ModelFailed("unreachable")
    tasks = await begin(flights, call, 2)
    call.end.set()
    found = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(one) for one in found] == [ModelFailed, ModelFailed]
    call.error = None
    assert await flights.share("key", call) == ("said", False)


async def test_a_failure_that_nobody_waits_for_is_no_complaint() -> None:
    """A call that fails just as its caller leaves disturbs no one."""
    heard: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: heard.append(context))
    flights, call = Flights[str](), Call()
    call.error = ModelFailed("unreachable")
    tasks = await begin(flights, call, 1)
    call.end.set()
    tasks[0].cancel()
    await asyncio.wait(tasks)
    await asyncio.sleep(0)
    gc.collect()
    assert heard == []


async def test_a_full_line_is_refused_at_once() -> None:
    """One runs, one waits, the third hears `busy`; when a turn is over the line moves on."""
    turns = Turns(running=1, waiting=1)
    async with turns.turn():
        waiting = asyncio.create_task(_take(turns))
        await asyncio.sleep(0)
        with pytest.raises(ModelFailed, match="busy"):
            await _take(turns)
    await waiting
    await _take(turns)


async def test_one_that_leaves_the_line_makes_room() -> None:
    """A caller that gives up while it waits holds neither a place nor a turn."""
    turns = Turns(running=1, waiting=1)
    async with turns.turn():
        waiting = asyncio.create_task(_take(turns))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
        again = asyncio.create_task(_take(turns))
        await asyncio.sleep(0)
    await again


async def _take(turns: Turns) -> None:
    async with turns.turn():
        pass
