"""The counts of the queue for everybody who watches them: read once, however many watch."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager

from sureline.application.complaints import Complaints
from sureline.application.ports.reviews import QueueCount
from sureline.errors import StoreError
from sureline.web.faults import Overloaded
from sureline.web.load import Seats

logger = logging.getLogger("sureline.web")

Read = Callable[[], Awaitable[Sequence[QueueCount]]]


class LiveQueue:
    """Reads the counts at most once in `every` seconds, and only while somebody asks.

    `most` watch at once, and of one key `most_of_one`. Belongs to one event loop.
    """

    def __init__(self, read: Read, *, every: float, most: int, most_of_one: int) -> None:
        self._read = read
        self._every = every
        self._seats = Seats(most)
        self._most_of_one = most_of_one
        self._watching: Counter[str] = Counter()
        self._latest: Sequence[QueueCount] = ()
        self._read_at = float("-inf")
        self._reading: asyncio.Task[Sequence[QueueCount]] | None = None
        self._loop: asyncio.Task[None] | None = None
        self._moved = asyncio.Event()
        self._complaints = Complaints(
            logger, "counting the queue", lambda: asyncio.get_running_loop().time()
        )

    @property
    def watching(self) -> int:
        """Return how many watch."""
        return self._seats.taken

    async def counts(self) -> Sequence[QueueCount]:
        """Return the counts as they were a moment ago; who comes meanwhile shares the reading."""
        if asyncio.get_running_loop().time() - self._read_at < self._every:
            return self._latest
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._read_once())
        return await asyncio.shield(self._reading)

    @contextmanager
    def watch(self, key_id: str) -> Iterator[None]:
        """Keep the counts fresh while somebody watches. Raises Overloaded beyond the limits."""
        if self._watching[key_id] >= self._most_of_one:
            raise Overloaded
        with self._seats:
            self._watching[key_id] += 1
            if self._loop is None:
                self._loop = asyncio.create_task(self._follow())
            try:
                yield
            finally:
                self._watching[key_id] -= 1
                self._watching += Counter()  # forgets those at nought
                if not self._watching and self._loop is not None:
                    self._loop.cancel()
                    self._loop = None

    async def moved(self) -> None:
        """Wait until the counts are others than now."""
        await self._moved.wait()

    async def _read_once(self) -> Sequence[QueueCount]:
        found = await self._read()
        self._read_at = asyncio.get_running_loop().time()
        if _figures(found) != _figures(self._latest):
            self._latest = found
            self._moved.set()
            self._moved = asyncio.Event()
        return self._latest

    async def _follow(self) -> None:
        while True:
            await asyncio.sleep(self._every)
            try:
                await self.counts()
            except StoreError as error:  # busy or being repaired: what was counted last stands
                self._complaints.tell(type(error).__name__, error.message)
            else:
                self._complaints.over()


def _figures(counts: Sequence[QueueCount]) -> list[tuple[object, ...]]:
    return [(one.slice_key, one.kind, one.state, one.count) for one in counts]
