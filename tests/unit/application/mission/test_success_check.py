"""The success check: a truth, nothing, or a failed evaluation; never a judgement made up."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any
from unittest.mock import AsyncMock, MagicMock, Mock

import numpy as np
import pytest

from sureline.application.mission.check import Checks, ExitedWith, require_callable
from sureline.core.mission.evaluation import Evaluation, EvaluationSource
from sureline.core.values.mission import Mission
from sureline.core.values.mission_evidence import Evidence
from sureline.errors import InvalidInput
from tests.a_mission import a_mission

SOON = 0.02
LONG = 30.0


async def checked(check: Callable[..., Any], seconds: float = LONG) -> Evaluation | None:
    return await Checks().run(check, a_mission(), seconds)


def asynchronous(word: object) -> Callable[[Mission], Any]:
    async def check(_mission: Mission) -> object:
        return word

    return check


class _Callable:
    async def __call__(self, mission: Mission) -> bool:
        return mission.invocations == 3


@pytest.mark.parametrize("word", [True, False, None])
@pytest.mark.parametrize("make", [lambda word: lambda _mission: word, asynchronous])
async def test_a_truth_is_taken_as_it_is(word: bool | None, make: Any) -> None:
    """True and False are verdicts of confidence 1, whether the check is async or not (M4)."""
    found = await checked(make(word))
    if word is None:
        assert found is None
    else:
        assert found == Evaluation(source=EvaluationSource.CHECK, achieved=word, confidence=1.0)


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(_Callable(), id="an_object"),
        pytest.param(lambda mission: _Callable()(mission), id="gives_a_coroutine"),
        pytest.param(AsyncMock(return_value=True), id="mock"),
    ],
)
async def test_what_can_be_awaited_is_awaited(check: Any) -> None:
    """A check that only gives a coroutine has not answered yet."""
    found = await checked(check)
    assert found is not None
    assert found.achieved is True


async def _coroutine() -> bool:
    return True


@pytest.mark.parametrize(
    "word",
    [1, 0, 1.0, "false", "true", "", [], np.True_, Mock(), MagicMock(), object()],
    ids=lambda word: type(word).__name__,
)
@pytest.mark.parametrize("make", [lambda word: lambda _mission: word, asynchronous])
async def test_what_only_looks_like_a_truth_is_none(word: object, make: Any) -> None:
    """No truth is made of numbers, texts or objects."""
    found = await checked(make(word))
    assert found is not None
    assert (found.fault, found.achieved) == ("check_not_boolean", None)


async def test_a_coroutine_in_a_coroutine_is_no_truth() -> None:
    """What is awaited once and is still none is closed, without a warning."""

    async def check(_mission: Mission) -> object:
        return _coroutine()

    found = await checked(check)
    assert found is not None
    assert found.fault == "check_not_boolean"


@pytest.mark.parametrize("error", [ValueError, SystemExit, StopIteration, asyncio.CancelledError])
@pytest.mark.parametrize("asynchronously", [True, False])
async def test_a_check_that_raises_is_a_failed_evaluation(
    error: type[BaseException], asynchronously: bool
) -> None:
    """Its error is named, never its words; nothing ends but the check."""

    def check(_mission: Mission) -> bool:
        raise error("iban DE44")

    async def later(mission: Mission) -> bool:
        return check(mission)

    found = await checked(later if asynchronously else check)
    assert found is not None
    assert found.fault == "check_raised"
    assert "DE44" not in str(found.findings)
    if error is not StopIteration:
        assert error.__name__ in found.findings[0].message


async def test_an_error_of_a_check_leaves_a_trace(caplog: pytest.LogCaptureFixture) -> None:
    """The program's log has its error with the traceback, the record its name and no words."""

    def check(_mission: Mission) -> bool:
        raise ZeroDivisionError("iban DE44")

    found = await checked(check)
    assert found is not None
    assert found.detail == {"error": "ZeroDivisionError"}
    (logged,) = caplog.records
    assert (logged.name, logged.levelname) == ("sureline.missions", "WARNING")
    assert logged.exc_info is not None
    assert str(logged.exc_info[1]) == "iban DE44"


async def test_an_exit_code_that_is_no_word_is_told() -> None:
    """What a check's program ended with goes into the record as the figure that it is."""

    async def check(_mission: Mission) -> bool:
        raise ExitedWith(7)

    found = await checked(check)
    assert found is not None
    assert (found.fault, found.detail) == ("check_raised", {"exit": 7})


async def test_a_check_cannot_change_the_evidence() -> None:
    """What it does to the evidence that it was given, neither the judge nor the record sees."""
    mission = a_mission(evidence=Evidence(state={"open": [1, 2]}))

    def check(given: Mission) -> None:
        given.evidence.state["open"].clear()

    assert await Checks().run(check, mission, LONG) is None
    assert mission.evidence.state == {"open": [1, 2]}


@pytest.mark.parametrize(
    ("check", "fits"),
    [
        pytest.param(lambda mission: mission is None, True, id="one"),
        pytest.param(lambda mission, more=1: more, True, id="one and a default"),
        pytest.param(_Callable(), True, id="an object"),
        pytest.param(AsyncMock(), True, id="a mock"),
        pytest.param(bool, True, id="built in"),
        pytest.param(lambda: True, False, id="none"),
        pytest.param(lambda mission, more: more, False, id="two"),
        pytest.param(True, False, id="a truth"),
    ],
)
def test_a_check_that_cannot_be_called_is_refused(check: Any, fits: bool) -> None:
    """Whoever writes a check of another shape is told at once, and not after the first turns."""
    with nullcontext() if fits else pytest.raises(InvalidInput, match="success_check: "):
        require_callable(check)


async def test_a_check_that_hangs_is_left_behind_once() -> None:
    """While it hangs the next try fails at once without a second thread; after it, it is asked."""
    go_on, started = threading.Event(), []

    def check(_mission: Mission) -> bool:
        started.append(threading.current_thread())
        go_on.wait(LONG)
        return True

    checks = Checks()
    for _ in range(3):
        found = await checks.run(check, a_mission(), SOON)
        assert found is not None
        assert found.fault == "check_timeout"
    assert len(started) == 1
    other = await checks.run(lambda _mission: True, a_mission(id="m-2"), LONG)
    assert other is not None
    assert other.achieved is True
    go_on.set()
    await asyncio.to_thread(started[0].join, LONG)
    again = await checks.run(check, a_mission(), LONG)
    assert again is not None
    assert again.achieved is True


async def test_a_coroutine_that_will_not_be_cancelled_is_left_behind() -> None:
    """A check that ignores being cancelled outlives its time, and nobody waits for it."""
    go_on = asyncio.Event()

    async def check(_mission: Mission) -> bool:
        while not go_on.is_set():
            try:
                await go_on.wait()
            except asyncio.CancelledError:
                continue
        return True

    checks = Checks()
    for _ in range(2):
        found = await checks.run(check, a_mission(), SOON)
        assert found is not None
        assert found.fault == "check_timeout"
    go_on.set()


async def test_whoever_asks_can_be_cancelled() -> None:
    """Being cancelled is no word of the check: it goes through, and the check is told."""
    entered, told = asyncio.Event(), asyncio.Event()

    async def check(_mission: Mission) -> bool:
        entered.set()
        try:
            await asyncio.Event().wait()
        finally:
            told.set()
        return True

    task = asyncio.create_task(checked(check))
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await told.wait()


PROGRAM = """
import asyncio, threading
from sureline.application.mission.check import Checks
from tests.a_mission import a_mission

found = asyncio.run(Checks().run(lambda _mission: threading.Event().wait(), a_mission(), 0.05))
print(found.fault)
"""


def test_a_check_that_hangs_does_not_keep_a_process_alive() -> None:
    """The interpreter ends although a thread of a check is still waiting."""
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=30, check=True
    )
    assert ended.stdout == "check_timeout\n"
    assert ended.stderr == ""
