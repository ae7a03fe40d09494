"""The judge: independent models that are told to refute an output (G9, G11)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from sureline.application.measure import SOURCE_SECONDS
from sureline.application.opinions.asking import Opinion, Unreadable, ask_for, unreadable
from sureline.application.ports.models import Asking, ModelClient, Prompt
from sureline.core.opinions.fence import unforgeable
from sureline.core.opinions.judge_prompt import (
    REMINDER,
    judge_instructions,
    judged_case,
    prompt_hash,
)
from sureline.core.opinions.panel import conclude, panel_detail, panel_words
from sureline.core.opinions.shown import Shown
from sureline.core.opinions.spans import Passages
from sureline.core.opinions.truth_reply import NotRead
from sureline.core.opinions.verdict_reply import SCHEMA, Said, read_verdict
from sureline.core.values.model_card import ModelCard
from sureline.core.values.policy import JudgePolicy, SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.verdict import Verdict, Vote
from sureline.errors import ModelFailed

SHARE_OF_TIME = 0.9
"""A judge has so much of the time there is; the rest is for saying that it did not answer."""

MOST_TOKENS = 4096
"""Room for a model that reasons before it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelJudge:
    """Asks the models that a slice's policy names; `new_nonce` makes fences nobody can forge."""

    client: ModelClient
    new_nonce: Callable[[], str]

    async def judge(self, proposal: Proposal, policy: SlicePolicy) -> Verdict:
        """Return the verdict, of a panel where the policy names several models.

        Raises ModelFailed with the reason: `too_long` and others of `shown`, `deadline`, those of
        `ask_for` and `read_verdict`, and `no_quorum` where too few of a panel gave a verdict.
        """
        settings = policy.judge
        if settings is None:
            raise ModelFailed("not_configured")
        case = _case(proposal, settings)
        seconds = SOURCE_SECONDS if proposal.deadline is None else proposal.deadline
        ask = partial(self._vote, case=case, settings=settings, seconds=seconds * SHARE_OF_TIME)
        votes = await asyncio.gather(*map(ask, settings.models))
        if len(votes) == 1:
            return _alone(votes[0])
        verdict = conclude(votes, refute_at=settings.refute_at, quorum=settings.needed)
        if verdict is None:
            detail, findings = panel_detail(votes), panel_words(votes)
            raise ModelFailed("no_quorum", detail=detail, findings=findings)
        return verdict

    async def _vote(
        self, model: str, *, case: Shown, settings: JudgePolicy, seconds: float
    ) -> Vote:
        """Ask one model; whatever keeps it from answering is told by its vote."""
        card = ModelCard(
            asked=model, prompt=prompt_hash(settings.guidance), temperature=settings.temperature
        )
        try:
            async with asyncio.timeout(seconds):
                opinion = await self._opinion(card, case, settings)
        except TimeoutError:
            return Vote(asked=model, fault="deadline", detail=card.detail)
        except ModelFailed as error:
            found = {**card.detail, **error.detail}
            return Vote(asked=model, fault=error.reason, detail=found, findings=error.findings)
        except Exception as error:  # noqa: BLE001 - what one client raises costs no other its say
            found = {**card.detail, "error": type(error).__name__}
            return Vote(asked=model, fault="judge_raised", detail=found)
        return Vote(asked=model, verdict=_verdict(opinion))

    async def _opinion(self, card: ModelCard, case: Shown, settings: JudgePolicy) -> Opinion[Said]:
        asking = Asking(
            model=card.asked,
            max_tokens=MOST_TOKENS,
            temperature=settings.temperature,
            schema=SCHEMA,
        )
        read = partial(_read, case=case)
        return await ask_for(self.client, self._prompt(case, settings), asking, read, card=card)

    def _prompt(self, case: Shown, settings: JudgePolicy) -> Prompt:
        instructions = judge_instructions(settings.guidance)
        nonce = unforgeable(self.new_nonce, (case.output, *case.others))
        return Prompt(
            instructions=instructions,
            content=f"{case.between(nonce)}\n\n{REMINDER}",
            digest=case.digest(f"{instructions}\n{REMINDER}"),
        )


def _case(proposal: Proposal, settings: JudgePolicy) -> Shown:
    try:
        return judged_case(proposal)
    except ModelFailed as error:
        raise ModelFailed(error.reason, detail={"asked": settings.model}) from error


def _alone(vote: Vote) -> Verdict:
    """Return the verdict of the only judge. Raises ModelFailed where it gave none."""
    if vote.verdict is None:
        raise ModelFailed(vote.fault or "no_verdict", detail=vote.detail, findings=vote.findings)
    return vote.verdict


def _verdict(opinion: Opinion[Said]) -> Verdict:
    said = opinion.said
    return Verdict(
        agrees=said.agrees,
        confidence=said.confidence,
        failure_mode=said.failure_mode,
        reason=said.reason,
        model=opinion.card.answered,
        card=opinion.card,
    )


def _read(text: str, case: Shown) -> Said | Unreadable:
    found = read_verdict(text, Passages((case.output, *case.others)))
    return unreadable(found) if isinstance(found, NotRead) else found
