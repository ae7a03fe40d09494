"""Ask a model for an opinion, once more if its reply cannot be read, and never guess (G9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from sureline.application.ports.models import Asking, Ended, ModelClient, Prompt, Reply
from sureline.core.opinions.refusal import declines
from sureline.core.opinions.truth_reply import NotRead
from sureline.core.values.finding import Finding
from sureline.core.values.model_card import NEVER_SENT, ModelCard, Usage
from sureline.errors import ModelFailed

Said = TypeVar("Said")

MOST_TOKENS = 4
"""How many times the first limit of tokens a second try may take after a reply was cut off."""

MOST_KEPT = 2_000
"""Characters of a reply that could not be read which are kept, for a person to look at."""

MOST_SHOWN_AGAIN = 4_000
"""Characters of such a reply that its model is shown again."""

REFUSED, TRUNCATED = "refused", "truncated"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a reply is no opinion: a code, and a sentence for the model that gave it."""

    reason: str
    complaint: str


def unreadable(found: NotRead) -> Unreadable:
    """Return why a reply was not read, with the request to answer again."""
    again = "Answer again with exactly one JSON object in the form asked for, and nothing else."
    return Unreadable(found.fault, f"{found.hint} {again}")


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
    with the reason (`truncated`, `refused`, those of `read` and of the client), the card, and the
    reply that could not be read as an erasable finding, shortened. `first_fault` in its detail is
    why there was a second question.
    """
    used: Usage | None = None
    unread: tuple[Reply, Unreadable] | None = None
    for _ in (1, 2):
        try:
            reply = await client.ask(prompt, asking)
        except ModelFailed as error:
            if used is not None and error.reason not in NEVER_SENT:
                used += Usage(calls=0)  # what was lost took is not known, so neither is both
            raise _failed(error, replace(card, usage=used), unread) from error
        used = reply.usage if used is None else used + reply.usage
        card = replace(card, answered=reply.model, usage=used)
        found = _read(reply, read)
        if not isinstance(found, Unreadable):
            return Opinion(found, card)
        if unread is not None or found.reason == REFUSED:
            failed = ModelFailed(found.reason, findings=_kept(reply))
            raise _failed(failed, card, unread)
        prompt, asking = _again(prompt, asking, reply, found)
        unread = reply, found
    raise AssertionError("two attempts return or raise")


def _read(reply: Reply, read: Callable[[str], Said | Unreadable]) -> Said | Unreadable:
    if reply.ended is Ended.REFUSED:
        return Unreadable(REFUSED, "")
    if reply.ended is Ended.TRUNCATED:
        return Unreadable(TRUNCATED, "")
    found = read(reply.text)
    if isinstance(found, Unreadable) and found.reason == "no_object" and declines(reply.text):
        return Unreadable(REFUSED, "")
    return found


def _again(
    prompt: Prompt, asking: Asking, reply: Reply, fault: Unreadable
) -> tuple[Prompt, Asking]:
    """Return the second question: with more room where there was too little, else what was wrong.

    A reply without any words cannot be shown again: no provider takes an empty turn.
    """
    if reply.ended is Ended.TRUNCATED:
        return prompt, replace(asking, max_tokens=asking.max_tokens * MOST_TOKENS, fresh=True)
    said = _storable(reply.text[:MOST_SHOWN_AGAIN])
    exchange = (said, _storable(fault.complaint)) if said.strip() else ()
    return replace(prompt, exchange=exchange), replace(asking, fresh=True)


def _failed(
    error: ModelFailed, card: ModelCard, unread: tuple[Reply, Unreadable] | None
) -> ModelFailed:
    """Return the failure with the card, and with what came of the first question, if anything."""
    first = {} if unread is None else {"first_fault": unread[1].reason}
    kept = error.findings or (() if unread is None else _kept(unread[0]))
    return ModelFailed(error.reason, detail={**error.detail, **card.detail, **first}, findings=kept)


def _kept(reply: Reply) -> tuple[Finding, ...]:
    text, more = reply.text[:MOST_KEPT], len(reply.text) - MOST_KEPT
    if not text.strip():
        return ()
    rest = f" [and {more} characters more]" if more > 0 else ""
    return (Finding(code="reply", message=f"{_storable(text)}{rest}"),)


def _storable(text: str) -> str:
    """Return the text without halves of characters, which can be neither sent nor stored."""
    return text.encode("utf-8", "replace").decode("utf-8")
