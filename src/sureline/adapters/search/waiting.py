"""Searches that wait while one runs, taken together into one matrix product."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sureline.adapters.search.bank import Window
from sureline.application.ports.cases import Neighbourhood


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Query:
    """A search in a window; `vector` is float32 and of unit length."""

    window: Window
    vector: NDArray[np.float32]
    k: int


class WaitingQueries:
    """Collects one event loop's queries and runs all that wait as one batch in `executor`.

    One batch is in flight at a time; what comes in meanwhile makes the next one. `run` gets the
    queries and returns as many answers, in the same order.
    """

    def __init__(
        self, run: Callable[[list[Query]], list[Neighbourhood]], executor: Executor
    ) -> None:
        self._run = run
        self._executor = executor
        self._waiting: list[tuple[Query, asyncio.Future[Neighbourhood]]] = []
        self._is_busy = False

    async def ask(self, query: Query) -> Neighbourhood:
        """Wait for the answer to `query`."""
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[Neighbourhood] = loop.create_future()
        self._waiting.append((query, answer))
        if not self._is_busy:
            self._is_busy = True
            # Not at once: whoever else is ready in this pass of the loop comes along.
            loop.call_soon(self._start)
        return await answer

    def _start(self) -> None:
        batch = [(query, answer) for query, answer in self._waiting if not answer.done()]
        self._waiting = []
        if not batch:
            self._is_busy = False
            return
        try:
            job = asyncio.get_running_loop().run_in_executor(
                self._executor, self._run, [query for query, _ in batch]
            )
        except RuntimeError as error:  # the executor is shut down
            self._is_busy = False
            for _, answer in batch:
                answer.set_exception(error)
            return
        answers = [answer for _, answer in batch]
        job.add_done_callback(lambda done: self._finish(done, answers))

    def _finish(
        self,
        done: asyncio.Future[list[Neighbourhood]],
        answers: list[asyncio.Future[Neighbourhood]],
    ) -> None:
        # Closing the index cancels what is queued; its callers were not cancelled themselves.
        stopped = RuntimeError("the search thread was stopped")
        fault = stopped if done.cancelled() else done.exception()
        for index, answer in enumerate(answers):
            if answer.done():
                continue
            if fault is not None:
                answer.set_exception(fault)
            else:
                answer.set_result(done.result()[index])
        self._start()
