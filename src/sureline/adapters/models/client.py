"""Ask the models of any provider, through pydantic_ai (extra `models`)."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress

from sureline.adapters.models.attempts import Attempts, Backoff
from sureline.adapters.models.breaker import Breaker
from sureline.adapters.models.connections import Connections
from sureline.adapters.models.faults import OUTAGES
from sureline.adapters.models.flights import Flights
from sureline.adapters.models.kept_replies import KeptReplies, as_kept, key_of
from sureline.adapters.models.turns import Turns
from sureline.application.ports.clock import Clock
from sureline.application.ports.models import Asking, ModelLimits, Prompt, Reply
from sureline.errors import ModelFailed


class _Place:
    """What belongs to one event loop: connections, calls under way and waiting lines."""

    def __init__(self, limits: ModelLimits) -> None:
        self.connections = Connections()
        self.flights: Flights[Reply] = Flights()
        self._limits = limits
        self._turns: dict[str, Turns] = {}

    def turns(self, model: str) -> Turns:
        if model not in self._turns:
            limits = self._limits
            self._turns[model] = Turns(running=limits.concurrency, waiting=limits.waiting)
        return self._turns[model]


class PydanticAIClient:
    """Asks models by `provider:name`; keys and addresses are in the providers' own variables.

    `limits` say how; they hold for each model, `concurrency` for each event loop besides. Nothing
    is imported or opened before the first question. May be used from several event loops: replies
    that are kept, and models that are left alone, are common to them. `clock` tells how long
    replies are kept and models rest; `backoff` waits between tries.
    """

    def __init__(
        self, limits: ModelLimits, clock: Clock, *, backoff: Backoff | None = None
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._attempts = Attempts(
            retries=limits.retries, backoff=backoff or Backoff(), monotonic=clock.monotonic
        )
        self._lock = threading.Lock()
        self._places: dict[asyncio.AbstractEventLoop, _Place] = {}
        self._breakers: dict[str, Breaker] = {}
        self._replies: KeptReplies | None = None

    async def ask(self, prompt: Prompt, asking: Asking) -> Reply:
        """Return the model's reply, a kept one unless it must be fresh.

        Equal questions at the same time share one call, unless they must be fresh: those are
        asked to be different. Raises ModelFailed with one of the port's reasons.
        """
        replies, place = self._kept(), await self._here()
        key = key_of(prompt, asking)
        if asking.fresh:
            return await self._ask_anew(place, key, prompt, asking)
        kept = replies.get(key)
        if kept is not None:
            return kept
        call = lambda: self._ask_anew(place, key, prompt, asking)  # noqa: E731
        reply, joined = await place.flights.share(key, call)
        return as_kept(reply) if joined else reply

    def resting(self) -> dict[str, bool]:
        """Tell of each model that was asked whether it is left alone now."""
        with self._lock:
            return {model: one.rests for model, one in self._breakers.items()}

    async def aclose(self) -> None:
        """Close the connections of the running loop; those of others close when they end."""
        with self._lock:
            place = self._places.pop(asyncio.get_running_loop(), None)
        if place is not None:
            await place.connections.aclose()

    def forget(self) -> None:
        """Forget the replies that are kept: something that they may quote was erased."""
        with self._lock:
            self._replies = None

    def _kept(self) -> KeptReplies:
        with self._lock:
            if self._replies is None:
                try:
                    self._replies = KeptReplies(self._limits, self._clock.monotonic)
                except ImportError:
                    raise ModelFailed(
                        "not_installed",
                        "the extra `models` is not installed: pip install 'sureline[models]'",
                    ) from None
            return self._replies

    async def _here(self) -> _Place:
        """Return what belongs to the running loop, and forget what belonged to ended ones."""
        loop = asyncio.get_running_loop()
        with self._lock:
            for ended in [one for one in self._places if one.is_closed()]:
                del self._places[ended]
            place = self._places.get(loop)
            if place is not None:
                return place
            place = self._places[loop] = _Place(self._limits)
        await place.connections.open()
        weakref.finalize(self, _close_soon, loop, place).atexit = False
        return place

    def _breaker(self, model: str) -> Breaker:
        with self._lock:
            if model not in self._breakers:
                self._breakers[model] = Breaker(
                    failures=self._limits.failures,
                    rest_seconds=self._limits.rest_seconds,
                    monotonic=self._clock.monotonic,
                )
            return self._breakers[model]

    async def _ask_anew(
        self, place: _Place, key: Hashable, prompt: Prompt, asking: Asking
    ) -> Reply:
        """Wait for a turn, ask, and keep the reply."""
        breaker = self._breaker(asking.model)
        breaker.check()
        model = await place.connections.model(asking.model)
        try:
            async with asyncio.timeout(self._limits.seconds) as limit:
                async with place.turns(asking.model).turn():
                    breaker.enter()
                    with _watching(breaker, patience=self._limits.seconds / 2):
                        until = limit.when() or 0.0
                        reply = await self._attempts.ask(model, prompt, asking, until=until)
        except TimeoutError:
            raise ModelFailed("timeout", detail={"seconds": self._limits.seconds}) from None
        self._kept().keep(key, reply)
        return reply


def _close_soon(loop: asyncio.AbstractEventLoop, place: _Place) -> None:
    """Close what a client that is no more had open on a loop that goes on."""
    with suppress(RuntimeError):  # the loop ended meanwhile, and closed it
        loop.call_soon_threadsafe(lambda: loop.create_task(place.connections.aclose()))


@contextmanager
def _watching(breaker: Breaker, *, patience: float) -> Iterator[None]:
    """Tell the breaker how a call ended; a refusal of the provider shows that it is there.

    A caller that gave up after `patience` seconds gave up on the model: callers have limits of
    their own, and a model that is silent would never be left alone if theirs were the shorter.
    """
    loop = asyncio.get_running_loop()
    late = loop.time() + patience
    try:
        yield
    except ModelFailed as error:
        if error.reason in OUTAGES:
            breaker.failed()
        else:
            breaker.succeeded()
        raise
    except BaseException:
        if loop.time() >= late:
            breaker.failed()
        else:
            breaker.abandoned()
        raise
    breaker.succeeded()
