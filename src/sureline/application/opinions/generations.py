"""Ask a generator for its answer again, several times and independently (G12)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sureline.application.ports.models import Asking, Ended, ModelClient, Prompt, Reply
from sureline.core.opinions.generation_prompt import TEMPLATE_HASH, instructions, material
from sureline.core.values.model_card import ModelCard
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.errors import ModelFailed

MOST_TOKENS = 4096
"""How long each answer may be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generations:
    """The texts of the replies, None for a refusal, with the card of the model that gave them."""

    texts: tuple[str | None, ...]
    card: ModelCard


async def ask_again(
    client: ModelClient,
    proposal: Proposal,
    policy: SlicePolicy,
    *,
    new_nonce: Callable[[], str],
) -> Generations:
    """Return as many new answers as the policy wants, all asked for at once, none from a cache.

    No answer is asked for again because it cannot be read: that too tells how sure the generator
    is. If one call fails, is cut off, or another model answers it than the others, all of it
    fails: what is left would be a chosen few. Raises ModelFailed with the reason and the card.
    """
    how, generator = policy.consistency, policy.generator
    assert how is not None
    assert generator is not None
    told = instructions(policy.checks)
    shown = material(proposal)
    asking = Asking(
        model=generator.model,
        max_tokens=MOST_TOKENS,
        temperature=how.temperature,
        schema=policy.checks.json_schema if policy.checks.structured else None,
        fresh=True,
    )

    async def ask() -> Reply | ModelFailed:
        prompt = Prompt(
            instructions=told, content=shown.between(new_nonce()), digest=shown.digest(told)
        )
        try:
            return await client.ask(prompt, asking)
        except ModelFailed as error:
            return error

    return _all_of(await asyncio.gather(*(ask() for _ in range(how.generations))), asking)


def _all_of(said: Sequence[Reply | ModelFailed], asking: Asking) -> Generations:
    replies = [one for one in said if isinstance(one, Reply)]
    card = _card(asking, replies)
    fault = next((one for one in said if isinstance(one, ModelFailed)), None)
    if fault is not None:
        raise ModelFailed(fault.reason, detail={**fault.detail, **card.detail})
    if any(one.ended is Ended.TRUNCATED for one in replies):
        raise ModelFailed("truncated", detail=card.detail)
    if card.answered is None:
        raise ModelFailed("models_differ", detail=card.detail)
    texts = tuple(None if one.ended is Ended.REFUSED else one.text for one in replies)
    return Generations(texts=texts, card=card)


def _card(asking: Asking, replies: Sequence[Reply]) -> ModelCard:
    """Return the card of the one model that answered; without `answered` if it was not one."""
    card = ModelCard(asked=asking.model, prompt=TEMPLATE_HASH, temperature=asking.temperature)
    for reply in replies:
        card = replace(card, usage=reply.usage if card.usage is None else card.usage + reply.usage)
    models = {one.model for one in replies}
    return replace(card, answered=models.pop()) if len(models) == 1 else card
