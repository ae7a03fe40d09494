"""A limit on calls at once, with a waiting line that has an end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sureline.errors import ModelFailed


class Turns:
    """Lets `running` calls of one event loop run at once and `waiting` more wait."""

    def __init__(self, *, running: int, waiting: int) -> None:
        self._free = asyncio.Semaphore(running)
        self._most = waiting
        self._waiting = 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Hold a turn, first come first served. Raises ModelFailed (`busy`) if the line is full."""
        if self._free.locked() and self._waiting >= self._most:
            raise ModelFailed("busy", detail={"waiting": self._waiting})
        self._waiting += 1
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._free.release()
