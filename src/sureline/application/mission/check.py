"""Run a mission's success check: a program's word, or that it leaves it to the judge (M4)."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import logging
import threading
from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace

from sureline.core.mission.evaluation import Evaluation, EvaluationSource
from sureline.core.values.finding import Finding
from sureline.core.values.mission import Mission
from sureline.errors import InvalidInput

_LOG = logging.getLogger("sureline.missions")
Word = bool | None
SuccessCheck = Callable[[Mission], Word | Awaitable[Word]]
"""Says whether a mission's objective is achieved; None leaves it to the judge.

What is no coroutine function runs in a thread of its own.
"""

RAISED, TIMEOUT, NOT_BOOLEAN = "check_raised", "check_timeout", "check_not_boolean"
_MOST_NAME = 80


class ExitedWith(Exception):
    """A check's program ended with an exit code that is no word."""

    def __init__(self, code: int) -> None:
        super().__init__(f"expected exit code 0 or 1, got {code}")
        self.code = code


def require_callable(check: SuccessCheck | None) -> None:
    """Raise InvalidInput for a check that cannot be called with a mission alone."""
    if check is None:
        return
    wanted = "expected a function of one argument, the mission"
    if not callable(check):
        raise InvalidInput(f"{wanted}, got {type(check).__name__}", field="success_check")
    try:
        signature = inspect.signature(check)
    except ValueError:
        return  # some that are built in do not tell
    try:
        signature.bind(None)
    except TypeError as error:
        raise InvalidInput(f"{wanted}: {error}", field="success_check") from None


@dataclass(frozen=True, slots=True)
class Checks:
    """Runs checks; while a mission's check hangs, none is started beside it."""

    hanging: dict[tuple[str, str], _Try] = field(default_factory=dict)

    async def run(self, check: SuccessCheck, mission: Mission, seconds: float) -> Evaluation | None:
        """Return what the check found, or None where it leaves it to the judge.

        A check that raises, that has not answered after `seconds`, or that answers anything else
        than True, False or None is a failed evaluation and never a judgement. A check that hangs
        is left behind: it keeps neither this process from ending nor another mission from being
        checked. It is given evidence of its own: what it does to it, nobody else sees. Raises
        nothing but CancelledError, where whoever asks is cancelled.
        """
        key = (mission.workspace, mission.id)
        earlier = self.hanging.pop(key, None)
        if earlier is not None and not earlier.is_over:
            self.hanging[key] = earlier
            return _failed(TIMEOUT, "An earlier try of the check is still running.")
        one = _Try()
        shown = replace(mission, evidence=deepcopy(mission.evidence))
        task = asyncio.create_task(one.answer(check, shown))
        one.task = task
        try:
            await asyncio.wait({task}, timeout=seconds)
        finally:
            if not task.done():
                task.cancel()
                self.hanging[key] = one
        if not task.done():
            return _failed(TIMEOUT, f"The check did not answer within {seconds:g} seconds.")
        return _evaluation(task.result(), mission)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a check gave, or what it raised."""

    word: object = None
    error: BaseException | None = None


@dataclass(slots=True)
class _Try:
    """A check at work: its task, and its thread where it has one."""

    task: asyncio.Task[_Answer] | None = None
    thread: threading.Thread | None = None

    @property
    def is_over(self) -> bool:
        """Tell whether nothing of it runs any more."""
        running = self.task is not None and not self.task.done()
        return not running and (self.thread is None or not self.thread.is_alive())

    async def answer(self, check: SuccessCheck, mission: Mission) -> _Answer:
        """Return what the check gives, or what it raises."""
        if not inspect.iscoroutinefunction(check):
            given = await self._in_thread(check, mission)
            return await _awaited(given.word) if inspect.isawaitable(given.word) else given
        return await _awaited(check(mission))

    async def _in_thread(self, check: SuccessCheck, mission: Mission) -> _Answer:
        """Call a check in a thread that the interpreter does not wait for when it ends.

        It does wait for the threads of a pool, such as those of `asyncio.to_thread`.
        """
        loop = asyncio.get_running_loop()
        told: asyncio.Future[_Answer] = loop.create_future()
        context = contextvars.copy_context()

        def call() -> None:
            answer = _called(lambda: context.run(check, mission))
            # The loop may have ended since; then nobody waits.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_tell, told, answer)

        self.thread = threading.Thread(target=call, name=f"check-{mission.id}", daemon=True)
        self.thread.start()
        return await told


def _called(call: Callable[[], object]) -> _Answer:
    try:
        return _Answer(call())
    except BaseException as error:  # noqa: BLE001 - in a thread of its own nobody else hears of it
        return _Answer(error=error)


async def _awaited(given: Awaitable[object]) -> _Answer:
    try:
        return _Answer(await given)
    except (Exception, SystemExit, asyncio.CancelledError) as error:  # noqa: BLE001 - it is told
        return _Answer(error=error)


def _tell(told: asyncio.Future[_Answer], answer: _Answer) -> None:
    if not told.done():
        told.set_result(answer)


def _evaluation(answer: _Answer, mission: Mission) -> Evaluation | None:
    if answer.error is not None:
        return _raised(answer.error, mission)
    word = answer.word
    if word is None:
        return None
    if not isinstance(word, bool):
        if inspect.iscoroutine(word):
            word.close()
        return _failed(NOT_BOOLEAN, f"The check answered {type(word).__name__}, no truth or None.")
    return Evaluation(source=EvaluationSource.CHECK, achieved=word, confidence=1.0)


def _raised(error: BaseException, mission: Mission) -> Evaluation:
    """Return what is kept of an error, which is its name; the program's own log has the rest."""
    if isinstance(error, ExitedWith):
        message = f"The check's program ended with exit code {error.code}."
        return _failed(RAISED, message, {"exit": error.code})
    name = type(error).__name__[:_MOST_NAME]
    _LOG.warning("the success check of mission %s raised %s", mission.id, name, exc_info=error)
    return _failed(RAISED, f"The check raised {name}.", {"error": name})


def _failed(fault: str, message: str, detail: Mapping[str, str | int] | None = None) -> Evaluation:
    return Evaluation(
        source=EvaluationSource.CHECK,
        fault=fault,
        detail=detail or {},
        findings=(Finding(code=fault, message=message),),
    )
