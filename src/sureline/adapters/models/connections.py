"""The models as one event loop holds them: made at first use, closed when the loop ends."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from sureline.adapters.models.bounded_http import bounded_client
from sureline.errors import ModelFailed

if TYPE_CHECKING:
    import httpx2
    from pydantic_ai.models import Model

SHARED_HTTP = frozenset(
    {
        "anthropic",
        "azure",
        "azure-responses",
        "deepseek",
        "fireworks",
        "litellm",
        "ollama",
        "openai",
        "openai-chat",
        "openai-responses",
        "openrouter",
        "together",
        "vllm",
    }
)
"""Providers that are reached through our HTTP client; others bring one of their own."""

_VARIABLE = re.compile(r"`([A-Z][A-Z0-9_]{2,})`")


class Connections:
    """Models and the HTTP client of one event loop; connections cannot move between loops.

    They are closed by `aclose`, or by the loop itself: asyncio closes the generators that are
    still open when it ends (`shutdown_asyncgens`), and one of them is ours.
    """

    def __init__(self) -> None:
        self._models: dict[str, asyncio.Task[Model]] = {}
        self._http: httpx2.AsyncClient | None = None
        self._entered: list[Model] = []
        self._lock = asyncio.Lock()
        self._until_the_end = self._close_at_the_end()

    async def open(self) -> None:
        """Let the running loop know what to close. Raises ModelFailed (`not_installed`)."""
        await anext(self._until_the_end)

    async def aclose(self) -> None:
        """Close all connections."""
        await self._until_the_end.aclose()

    async def _close_at_the_end(self) -> AsyncGenerator[None, None]:
        try:
            yield
        finally:
            for model in self._entered:
                await model.__aexit__(None, None, None)
            if self._http is not None:
                await self._http.aclose()

    async def model(self, name: str) -> Model:
        """Return a model by `provider:name`.

        Raises ModelFailed: `not_installed`, or `not_configured` (no key, unknown provider).
        """
        making = self._models.get(name)
        if making is None:
            making = self._models[name] = asyncio.create_task(self._made(name))
        try:
            return await asyncio.shield(making)
        except ModelFailed:
            self._models.pop(name, None)  # a key may be there the next time
            raise

    async def _made(self, name: str) -> Model:
        async with self._lock:
            model, self._http = await asyncio.to_thread(make_model, name, self._http)
            await model.__aenter__()
            self._entered.append(model)
            return model


def make_model(name: str, http: httpx2.AsyncClient | None) -> tuple[Model, httpx2.AsyncClient]:
    """Return a model and the HTTP client for the next ones; takes seconds the first time.

    Importing pydantic_ai and loading certificates would hold up an event loop.
    Raises ModelFailed: `not_installed`, or `not_configured`.
    """
    try:
        from pydantic_ai.exceptions import UserError
        from pydantic_ai.models import infer_model
    except ImportError as error:
        raise _not_installed(error.name) from None
    http = http or bounded_client()
    provider = name.partition(":")[0]
    try:
        return infer_model(name, lambda kind: _provider(kind, http)), http
    except ImportError as error:
        raise _not_installed(error.name, provider) from None
    except (UserError, ValueError) as error:
        raise _not_configured(provider, str(error)) from None


def _provider(kind: str, http: httpx2.AsyncClient) -> Any:
    from pydantic_ai.providers import infer_provider, infer_provider_class

    if kind not in SHARED_HTTP:
        return infer_provider(kind)
    provider: Any = infer_provider_class(kind)
    return provider(http_client=http)


def _not_installed(module: str | None, provider: str | None = None) -> ModelFailed:
    what = "the extra `models`" if provider is None else f"what the provider {provider!r} needs"
    return ModelFailed(
        "not_installed",
        f"{what} is not installed (no module {module!r}): pip install 'sureline[models]', "
        "or the extra of pydantic-ai-slim that is named after the provider",
        detail={} if provider is None else {"provider": provider},
    )


def _not_configured(provider: str, said: str) -> ModelFailed:
    """Name the variable that the provider's own complaint names, if it names one."""
    found = _VARIABLE.search(said)
    if found is None:
        advice = "expected `provider:name`, a known provider, and its variables in the environment"
        return ModelFailed(
            "not_configured",
            f"no model can be made for the provider {provider!r}: {advice}",
            detail={"provider": provider},
        )
    return ModelFailed(
        "not_configured",
        f"the provider {provider!r} has no key: set {found[1]} in the environment",
        detail={"provider": provider, "variable": found[1]},
    )
