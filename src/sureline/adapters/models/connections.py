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
            making.add_done_callback(lambda task: self._forget_failed(name, task))
        return await asyncio.shield(making)

    def _forget_failed(self, name: str, making: asyncio.Task[Model]) -> None:
        """Make it anew the next time: a key may be there then."""
        if making.cancelled() or making.exception() is not None:
            self._models.pop(name, None)

    async def _made(self, name: str) -> Model:
        async with self._lock:
            # In a thread: importing pydantic_ai and reading certificates would hold up the loop.
            if self._http is None:
                self._http = await asyncio.to_thread(open_http)
            model = await asyncio.to_thread(make_model, name, self._http)
            await model.__aenter__()
            self._entered.append(model)
            return model


def open_http() -> httpx2.AsyncClient:
    """Return the HTTP client of one event loop.

    Raises ModelFailed: `not_installed`, or `not_configured` (certificates that cannot be read).
    """
    try:
        return bounded_client()
    except ImportError as error:
        raise _not_installed(error.name) from None
    except Exception as error:  # noqa: BLE001 - whatever a certificate's file can be
        raise _not_configured("any", "", type(error).__name__) from None


def make_model(name: str, http: httpx2.AsyncClient) -> Model:
    """Return a model by `provider:name`. Raises ModelFailed: `not_installed`, `not_configured`."""
    from pydantic_ai.exceptions import UserError
    from pydantic_ai.models import infer_model

    provider, colon, _ = name.partition(":")
    if not colon:  # the library takes "test" for a model that makes its answers up
        raise _not_configured(provider, "")
    try:
        return infer_model(name, lambda kind: _provider(kind, http))
    except ImportError as error:
        raise _not_installed(error.name, provider) from None
    except (UserError, ValueError) as error:
        raise _not_configured(provider, str(error)) from None
    except Exception as error:  # noqa: BLE001 - each provider complains in its own way
        raise _not_configured(provider, "", type(error).__name__) from None


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


def _not_configured(provider: str, said: str, error: str | None = None) -> ModelFailed:
    """Name the variable that the provider's own complaint names, if it names one."""
    found = _VARIABLE.search(said)
    if found is None:
        advice = "expected `provider:name`, a known provider, and its variables in the environment"
        return ModelFailed(
            "not_configured",
            f"no model can be made for the provider {provider!r}: {advice}",
            detail={"provider": provider} | ({} if error is None else {"error": error}),
        )
    return ModelFailed(
        "not_configured",
        f"the provider {provider!r} has no key: set {found[1]} in the environment",
        detail={"provider": provider, "variable": found[1]},
    )
