"""Ask a model for an opinion, once more if its reply cannot be read, and never guess (G9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from sureline.application.ports.models import Asking, Ended, ModelClient, Prompt, Reply
from sureline.core.values.model_card import ModelCard, Usage
from sureline.errors import ModelFailed

Said = TypeVar("Said")

MOST_TOKENS = 4
"""How many times the first limit of tokens a second try may take after a reply was cut off."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a reply is no opinion: a code, and a sentence for the model that gave it."""

    reason: str
    complaint: str


@dataclass(frozen=True, slots=True)
class Opinion(Generic[Said]):
    """What a model said, read, with its card."""

    said: Said
    card: ModelCard


async def ask_for(
    client: ModelClient,
    prompt: Prompt,
    asking: Asking,
    read: Callable[[str], Said | Unreadable],
    *,
    card: ModelCard,
) -> Opinion[Said]:
    """Ask, read, ask once more with what was wrong, and then give up.

    `read` turns a reply's text into what was said, or says why it cannot. A reply that was cut
    off is asked for again with a larger limit; a refusal is not asked again. Raises ModelFailed
    with the reason (`truncated`, `refused`, those of `read` and of the client) and the card.
    """
    used: Usage | None = None
    for attempt in (1, 2):
        try:
            reply = await client.ask(prompt, asking)
        except ModelFailed as error:
            raise _failed(error.reason, replace(card, usage=used), error.detail) from error
        used = reply.usage if used is None else used + reply.usage
        card = replace(card, answered=reply.model, usage=used)
        found = _read(reply, read)
        if not isinstance(found, Unreadable):
            return Opinion(found, card)
        if attempt == 2 or reply.ended is Ended.REFUSED:
            raise _failed(found.reason, card, {})
        prompt, asking = _again(prompt, asking, reply, found)
    raise AssertionError("two attempts return or raise")


def _read(reply: Reply, read: Callable[[str], Said | Unreadable]) -> Said | Unreadable:
    if reply.ended is Ended.REFUSED:
        return Unreadable("refused", "")
    if reply.ended is Ended.TRUNCATED:
        return Unreadable("truncated", "Your reply was cut off. Answer with the JSON object only.")
    return read(reply.text)


def _again(
    prompt: Prompt, asking: Asking, reply: Reply, fault: Unreadable
) -> tuple[Prompt, Asking]:
    """Return the second question: with the complaint, or with more room."""
    if fault.reason == "truncated":
        return prompt, replace(asking, max_tokens=asking.max_tokens * MOST_TOKENS, fresh=True)
    return replace(prompt, exchange=(reply.text, fault.complaint)), replace(asking, fresh=True)


def _failed(reason: str, card: ModelCard, detail: object) -> ModelFailed:
    extra = detail if isinstance(detail, dict) else {}
    return ModelFailed(reason, detail={**extra, **card.detail})
