"""Read a reply out of pydantic_ai's response."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from sureline.application.ports.models import Ended, Reply
from sureline.core.values.model_card import MOST_TOKENS, Usage, plausible
from sureline.core.values.model_names import kept_id
from sureline.errors import ModelFailed

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelResponse

ENDED = {"length": Ended.TRUNCATED, "content_filter": Ended.REFUSED}
"""How pydantic_ai's finish reasons read here; a refusal of the model is `content_filter` there."""

FINISHED = frozenset(
    {"completed", "done", "end", "end_turn", "eos", "eos_token", "stop_sequence", "stop_token"}
)
"""What servers of other makes call the end of an answer."""


def reply_of(response: ModelResponse, asked: str) -> Reply:
    """Return what a model said; `asked` is the name it answers to if it gives none.

    Raises ModelFailed (`unreadable_response`) for a complete answer with nothing in it and for one
    that is not finished, and (`server_error`) where the provider ended it with an error.
    """
    _refuse_unfinished(response)
    ended = ENDED.get(response.finish_reason or "", Ended.COMPLETE)
    if ended is Ended.COMPLETE and not response.parts:
        raise ModelFailed("unreadable_response", detail={"category": "empty"})
    return Reply(
        text=_text(response),
        model=kept_id(response.model_name, asked) if response.model_name else asked,
        ended=ended,
        usage=_usage(response),
        logprobs=_logprobs(response),
    )


def _refuse_unfinished(response: ModelResponse) -> None:
    """Raise ModelFailed for an answer that has not come to an end, whatever it says so far.

    An end that pydantic_ai does not know is none, unless it is in FINISHED; servers that give no
    reason at all send whole answers.
    """
    said = (response.provider_details or {}).get("finish_reason")
    if response.finish_reason == "error" or said == "error":
        raise ModelFailed("server_error", detail={"category": "ended_in_error"})
    unknown = response.finish_reason is None and said and said not in FINISHED
    if unknown or response.state != "complete":
        raise ModelFailed("unreadable_response", detail={"category": "unfinished"})


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


def _usage(response: ModelResponse) -> Usage:
    """Return what the reply took, nothing of it where a figure cannot be true.

    No question has no tokens: pydantic_ai says 0 where it could not read what the provider said.
    """
    used = response.usage
    if used.unmeasured_requests or not used.input_tokens:
        return Usage()
    if any(plausible(one, MOST_TOKENS) is None for one in (used.input_tokens, used.output_tokens)):
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
