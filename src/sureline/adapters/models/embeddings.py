"""Ask the embedding models of any provider, through pydantic_ai (extra `models`)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

from sureline.adapters.models.attempts import Backoff
from sureline.adapters.models.bounded_http import bounded_client
from sureline.adapters.models.breaker import Breaker
from sureline.adapters.models.connections import SHARED_HTTP
from sureline.adapters.models.faults import OUTAGES, Fault, fault_of
from sureline.adapters.models.turns import Turns
from sureline.application.ports.clock import Clock
from sureline.application.ports.embedder import EmbeddingReply
from sureline.application.ports.models import ModelLimits
from sureline.errors import ModelFailed

Call = Callable[[Sequence[str]], Awaitable[EmbeddingReply]]
"""Sends texts to one model, once."""


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
        self._places: WeakKeyDictionary[asyncio.AbstractEventLoop, _Place] = WeakKeyDictionary()
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
                reply = await self._asked(call, texts, breaker, until=limit.when() or 0.0)
        except TimeoutError:
            breaker.failed()
            raise ModelFailed("timeout", detail={"seconds": self._limits.seconds}) from None
        except asyncio.CancelledError:
            breaker.abandoned()
            raise
        breaker.succeeded()
        return reply

    async def _asked(
        self, call: Call, texts: Sequence[str], breaker: Breaker, *, until: float
    ) -> EmbeddingReply:
        loop = asyncio.get_running_loop()
        for retries in range(self._limits.retries + 1):
            found = await _once(call, texts)
            if isinstance(found, EmbeddingReply):
                return found
            pause = self._backoff.pause(retries, found.wait)
            last = retries == self._limits.retries or loop.time() + pause >= until
            if not found.again or last:
                (breaker.failed if found.reason in OUTAGES else breaker.succeeded)()
                raise found.as_error(retries)
            await self._backoff.sleep(pause)
        raise AssertionError("there is at least one try")

    async def _here(self) -> _Place:
        loop = asyncio.get_running_loop()
        with self._lock:
            place = self._places.get(loop)
            if place is not None:
                return place
            place = self._places[loop] = _Place(self._limits)
        await place.open()
        return place

    async def _call(self, place: _Place, name: str) -> Call:
        async with place.making:
            call = place.calls.get(name)
            if call is None:
                # Importing pydantic_ai takes seconds.
                call, place.http = await asyncio.to_thread(_make, name, place.http)
                place.calls[name] = call
            return call

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


async def _once(call: Call, texts: Sequence[str]) -> EmbeddingReply | Fault:
    """Return a reply or a fault, so that no provider's words travel along with an exception."""
    try:
        return await call(texts)
    except ModelFailed as error:
        return Fault(reason=error.reason, detail=error.detail)
    except Exception as error:  # noqa: BLE001 - a response of any form may break a library in any way
        return _fault(error)


def _fault(error: Exception) -> Fault:
    status, headers = getattr(error, "status_code", None), getattr(error, "response", None)
    if type(error).__module__.split(".")[0] != "openai":
        return fault_of(error)
    if status is None:
        found = fault_of(error)
        refused = found.detail.get("category") == "body_refused"
        is_connection = "Connection" in type(error).__name__ or "Timeout" in type(error).__name__
        if refused or not is_connection:
            return found
        return Fault(reason="unreachable", again=True)
    reason = _REASONS.get(status, "server_error" if status >= 500 else "rejected")
    quota = getattr(error, "code", None) == "insufficient_quota"
    wait = None if headers is None else _seconds(headers.headers.get("retry-after"))
    return Fault(
        reason="rejected" if quota else reason,
        again=reason in OUTAGES and not quota,
        wait=wait,
        detail={"status": status},
    )


_REASONS = {
    401: "unauthorized",
    403: "unauthorized",
    404: "not_found",
    408: "server_error",
    409: "server_error",
    429: "rate_limited",
}


def _seconds(text: object) -> float | None:
    return float(text) if isinstance(text, str) and text.isdecimal() else None


def _make(name: str, http: Any) -> tuple[Call, Any]:
    """Return what calls a model, and the HTTP client for the next ones; takes seconds at first."""
    try:
        from pydantic_ai.embeddings import infer_embedding_model
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.providers import infer_provider, infer_provider_class
    except ImportError:
        raise ModelFailed("not_installed") from None
    http = http or bounded_client()
    providers: list[Any] = []

    def provider_of(kind: str) -> Any:
        shared: Any = infer_provider_class(kind) if kind in SHARED_HTTP else None
        providers.append(infer_provider(kind) if shared is None else shared(http_client=http))
        return providers[-1]

    try:
        model = infer_embedding_model(name, provider_factory=provider_of)
    except ImportError:
        raise ModelFailed("not_installed") from None
    except (UserError, ValueError):
        raise ModelFailed("not_configured") from None
    return _caller(model, providers[-1] if providers else None), http


def _caller(model: Any, provider: Any) -> Call:
    """Return what calls a model; OpenAI's format says by index which row belongs to which text.

    pydantic_ai leaves the indexes out, so a server that reorders would swap vectors unseen.
    """
    try:
        from pydantic_ai.embeddings.openai import OpenAIEmbeddingModel
    except ImportError:
        is_openai = False
    else:
        is_openai = isinstance(model, OpenAIEmbeddingModel)

    async def by_index(texts: Sequence[str]) -> EmbeddingReply:
        client = provider.client.with_options(max_retries=0)
        found = await client.embeddings.create(
            input=list(texts), model=model.model_name, encoding_format="float"
        )
        rows = {one.index: one.embedding for one in found.data}
        if len(found.data) != len(texts) or rows.keys() != set(range(len(texts))):
            raise ModelFailed("unreadable_response", detail={"category": "rows"})
        answered = found.model or model.model_name
        return EmbeddingReply(rows=[rows[at] for at in range(len(texts))], model=answered)

    async def in_order(texts: Sequence[str]) -> EmbeddingReply:
        found = await model.embed(
            list(texts), input_type="document", settings={"truncate": False}
        )
        return EmbeddingReply(rows=found.embeddings, model=found.model_name or model.model_name)

    return by_index if is_openai else in_order
