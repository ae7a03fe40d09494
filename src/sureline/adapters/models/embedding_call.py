"""One call to an embedding model: made for a provider, and its faults told apart."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from sureline.adapters.models.bounded_http import bounded_client
from sureline.adapters.models.connections import SHARED_HTTP
from sureline.adapters.models.faults import OUTAGES, Fault, fault_of
from sureline.application.ports.embedder import EmbeddingReply
from sureline.core.values.model_card import Usage
from sureline.errors import ModelFailed

Call = Callable[[Sequence[str]], Awaitable[EmbeddingReply]]
"""Sends texts to one model, once."""

_REASONS = {
    401: "unauthorized",
    403: "unauthorized",
    404: "not_found",
    408: "server_error",
    409: "server_error",
    429: "rate_limited",
}


async def call_once(call: Call, texts: Sequence[str]) -> EmbeddingReply | Fault:
    """Return a reply or a fault, so that no provider's words travel along with an exception."""
    try:
        return await call(texts)
    except ModelFailed as error:
        return Fault(reason=error.reason, detail=error.detail)
    except Exception as error:  # noqa: BLE001 - a response of any form may break a library in any way
        return _fault(error)


def _fault(error: Exception) -> Fault:
    """Return what an exception means; those of OpenAI's library come without pydantic_ai's help."""
    if type(error).__module__.split(".")[0] != "openai":
        return fault_of(error)
    from openai import APIConnectionError, APIStatusError

    if isinstance(error, APIStatusError):
        return _status_fault(error)
    found = fault_of(error)
    if isinstance(error, APIConnectionError) and "category" not in found.detail:
        return Fault(reason="unreachable", again=True)
    return found


def _status_fault(error: Any) -> Fault:
    status = error.status_code
    reason = _REASONS.get(status, "server_error" if status >= 500 else "rejected")
    if error.code == "insufficient_quota":
        return Fault(reason="rejected", detail={"status": status, "category": "quota"})
    return Fault(
        reason=reason,
        again=reason in OUTAGES,
        wait=_seconds(error.response.headers.get("retry-after")),
        detail={"status": status},
    )


def _seconds(text: object) -> float | None:
    return float(text) if isinstance(text, str) and text.isdecimal() else None


def make_call(name: str, http: Any) -> tuple[Call, Any]:
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
        return EmbeddingReply(
            rows=[rows[at] for at in range(len(texts))],
            model=answered,
            usage=_usage(getattr(found.usage, "prompt_tokens", None), answered, provider.name),
        )

    async def in_order(texts: Sequence[str]) -> EmbeddingReply:
        found = await model.embed(list(texts), input_type="document", settings={"truncate": False})
        answered = found.model_name or model.model_name
        return EmbeddingReply(
            rows=found.embeddings,
            model=answered,
            usage=_usage(found.usage.input_tokens or None, answered, found.provider_name),
        )

    return by_index if is_openai else in_order


def _usage(tokens: object, model: str, provider: str) -> Usage:
    """Return tokens and list price, None where they are not known."""
    if isinstance(tokens, bool) or not isinstance(tokens, int) or tokens <= 0:
        return Usage()
    from genai_prices import Usage as Priced
    from genai_prices import calc_price

    try:
        price = calc_price(Priced(input_tokens=tokens), model, provider_id=provider)
        cost = float(price.total_price)
    except (LookupError, ValueError, TypeError, ArithmeticError):
        return Usage(input_tokens=tokens, output_tokens=0)
    return Usage(input_tokens=tokens, output_tokens=0, cost=cost)
