"""Ask the embedding models of any provider, through pydantic_ai (extra `models`)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sureline.adapters.models.attempts import Backoff
from sureline.adapters.models.breaker import Breaker
from sureline.adapters.models.embedding_call import Call, call_once, make_call
from sureline.adapters.models.faults import OUTAGES
from sureline.adapters.models.turns import Turns
from sureline.application.ports.clock import Clock
from sureline.application.ports.embedder import EmbeddingReply
from sureline.application.ports.models import ModelLimits
from sureline.errors import ModelFailed


class _Place:
    """What belongs to one event loop; the HTTP client closes when the loop ends."""

    def __init__(self, limits: ModelLimits) -> None:
        self.calls: dict[str, Call] = {}
        self.turns = Turns(running=limits.concurrency, waiting=limits.waiting)
        self.making = asyncio.Lock()
        self.http: Any = None
        self._until_the_end = self._close_at_the_end()

    async def open(self) -> None:
        await anext(self._until_the_end)

    async def _close_at_the_end(self) -> AsyncIterator[None]:
        try:
            yield
        finally:
            if self.http is not None:
                await self.http.aclose()


class PydanticAIEmbeddings:
    """Embeds texts with models by `provider:name`; keys are in the providers' own variables.

    Asked again after faults of the transport only, within `limits.seconds` all in all; a model
    that is out is left alone for a while. Nothing is imported or opened before the first text.
    """

    def __init__(
        self, limits: ModelLimits, clock: Clock, *, backoff: Backoff | None = None
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._backoff = backoff or Backoff()
        self._lock = threading.Lock()
        self._places: dict[asyncio.AbstractEventLoop, _Place] = {}
        self._breakers: dict[str, Breaker] = {}

    async def embed(self, model: str, texts: Sequence[str]) -> EmbeddingReply:
        """Return a row per text, in the order of the texts. Raises ModelFailed."""
        breaker = self._breaker(model)
        breaker.check()
        place = await self._here()
        call = await self._call(place, model)
        try:
            async with asyncio.timeout(self._limits.seconds) as limit, place.turns.turn():
                breaker.enter()
                with self._watching(breaker, limit):
                    return await self._asked(call, texts, until=limit.when() or 0.0)
        except TimeoutError:
            raise ModelFailed("timeout", detail={"seconds": self._limits.seconds}) from None

    @contextmanager
    def _watching(self, breaker: Breaker, limit: asyncio.Timeout) -> Iterator[None]:
        """Tell the breaker how a call ended.

        A caller that gives up says nothing about the model, unless nearly all time was used: a
        decision's own time limit is as long as ours.
        """
        try:
            yield
        except ModelFailed as error:
            (breaker.failed if error.reason in OUTAGES else breaker.succeeded)()
            raise
        except asyncio.CancelledError:
            left = (limit.when() or 0.0) - asyncio.get_running_loop().time()
            (breaker.failed if left < self._limits.seconds / 10 else breaker.abandoned)()
            raise
        breaker.succeeded()

    async def _asked(self, call: Call, texts: Sequence[str], *, until: float) -> EmbeddingReply:
        loop, started = asyncio.get_running_loop(), self._clock.monotonic()
        for retries in range(self._limits.retries + 1):
            found = await call_once(call, texts)
            if isinstance(found, EmbeddingReply):
                seconds = self._clock.monotonic() - started
                return replace(found, usage=replace(found.usage, seconds=seconds, retries=retries))
            pause = self._backoff.pause(retries, found.wait)
            last = retries == self._limits.retries or loop.time() + pause >= until
            if not found.again or last:
                raise found.as_error(retries)
            await self._backoff.sleep(pause)
        raise AssertionError("there is at least one try")

    async def _here(self) -> _Place:
        loop = asyncio.get_running_loop()
        with self._lock:
            for ended in [one for one in self._places if one.is_closed()]:
                del self._places[ended]
            place = self._places.get(loop)
            if place is not None:
                return place
            place = self._places[loop] = _Place(self._limits)
        await place.open()
        return place

    async def _call(self, place: _Place, name: str) -> Call:
        async with place.making:
            if name not in place.calls:
                # Importing pydantic_ai takes seconds.
                made, place.http = await asyncio.to_thread(make_call, name, place.http)
                place.calls[name] = made
            return place.calls[name]

    def _breaker(self, name: str) -> Breaker:
        with self._lock:
            found = self._breakers.get(name)
            if found is None:
                found = self._breakers[name] = Breaker(
                    failures=self._limits.failures,
                    rest_seconds=self._limits.rest_seconds,
                    monotonic=self._clock.monotonic,
                )
            return found
