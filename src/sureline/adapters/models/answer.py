"""Read a reply out of pydantic_ai's response."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from sureline.application.ports.models import Ended, Reply
from sureline.core.values.model_card import Usage
from sureline.errors import ModelFailed

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

LONGEST_ID = 128

ENDED = {"length": Ended.TRUNCATED, "content_filter": Ended.REFUSED}
"""How pydantic_ai's finish reasons read here; a refusal of the model is `content_filter` there."""

_NO_ID = re.compile(r"[^A-Za-z0-9._:/@+-]")


def reply_of(response: ModelResponse, asked: str) -> Reply:
    """Return what a model said; `asked` is the name it answers to if it gives none.

    Raises ModelFailed (`unreadable_response`) for a complete answer with nothing in it, and
    (`server_error`) where the provider ended it with an error.
    """
    if response.finish_reason == "error":
        raise ModelFailed("server_error", detail={"category": "ended_in_error"})
    ended = ENDED.get(response.finish_reason or "", Ended.COMPLETE)
    if ended is Ended.COMPLETE and not response.parts:
        raise ModelFailed("unreadable_response", detail={"category": "empty"})
    return Reply(
        text=_text(response),
        model=_id(response.model_name) or asked,
        ended=ended,
        usage=_usage(response),
        logprobs=_logprobs(response),
    )


def _text(response: ModelResponse) -> str:
    """Return the text without what was thought aloud; else the arguments of the only tool call.

    Half a surrogate pair, which JSON can say and UTF-8 cannot, becomes a question mark.
    """
    from pydantic_ai.messages import TextPart, ToolCallPart

    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    if not text and len(calls) == 1:
        text = calls[0].args_as_json_str()
    return text.encode("utf-8", "replace").decode("utf-8")


def _id(name: str | None) -> str:
    """Return a model's id as one: it is kept in the ledger, so nothing else may hide in it."""
    return _NO_ID.sub("?", name or "")[:LONGEST_ID]


def _usage(response: ModelResponse) -> Usage:
    used = response.usage
    if used.unmeasured_requests or min(used.input_tokens, used.output_tokens) < 0:
        return Usage()
    return Usage(
        input_tokens=used.input_tokens, output_tokens=used.output_tokens, cost=_cost(response)
    )


def _cost(response: ModelResponse) -> float | None:
    """Return the list price in US dollars, None where it is not known."""
    try:
        cost = float(response.cost().total_price)
    except (LookupError, ValueError, AssertionError, ArithmeticError, TypeError):
        return None  # what genai-prices raises for a model, a provider or a count it cannot price
    return cost if math.isfinite(cost) and cost >= 0 else None


def _logprobs(response: ModelResponse) -> tuple[float, ...]:
    """Return the tokens' log-probabilities; none at all if one of them is none."""
    from pydantic_ai.messages import TextPart

    entries: list[Any] = list((response.provider_details or {}).get("logprobs") or ())
    for part in response.parts:
        if isinstance(part, TextPart):
            entries.extend((part.provider_details or {}).get("logprobs") or ())
    values = [entry.get("logprob") for entry in entries]
    return tuple(values) if _all_logprobs(values) else ()


def _all_logprobs(values: Iterable[object]) -> bool:
    return all(isinstance(one, (int, float)) and math.isfinite(one) and one <= 0 for one in values)
