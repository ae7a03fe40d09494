"""Let equal questions that are asked at once share one call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


@dataclass(slots=True)
class _Flight(Generic[Result]):
    task: asyncio.Task[Result]
    waiting: int = 0


class Flights(Generic[Result]):
    """Runs one call for each key at a time, on one event loop.

    A caller that gives up does not end the call for the others; the last one that does ends it.
    """

    def __init__(self) -> None:
        self._flights: dict[Hashable, _Flight[Result]] = {}

    async def share(
        self, key: Hashable, call: Callable[[], Coroutine[Any, Any, Result]]
    ) -> tuple[Result, bool]:
        """Return the call's result, and whether it was another caller's call."""
        flight = self._flights.get(key)
        joined = flight is not None
        if flight is None:
            flight = self._flights[key] = _Flight(asyncio.create_task(call()))
            flight.task.add_done_callback(lambda task: self._land(key, task))
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task), joined
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                self._flights.pop(key, None)
                flight.task.cancel()

    def _land(self, key: Hashable, task: asyncio.Task[Result]) -> None:
        flight = self._flights.get(key)
        if flight is not None and flight.task is task:
            del self._flights[key]
        if not task.cancelled():
            task.exception()  # seen: else asyncio complains if every caller gave up just before
