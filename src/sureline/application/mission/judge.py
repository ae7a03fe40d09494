"""The judge of missions: a model other than the actor, that is told to doubt (M2, M6)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sureline.application.opinions.asking import Opinion, Unreadable, ask_for, unreadable
from sureline.application.opinions.judge import MOST_TOKENS, SHARE_OF_TIME
from sureline.application.ports.models import Asking, ModelClient, Prompt
from sureline.core.mission.achieved_reply import SCHEMA, SaidAchieved, read_achieved
from sureline.core.mission.bundle import Bundle, bundle
from sureline.core.mission.evaluation import Evaluation, EvaluationSource
from sureline.core.mission.independence import Found, Kinship, kinship
from sureline.core.mission.judge_prompt import (
    REMINDER,
    mission_content,
    mission_figures,
    mission_instructions,
    mission_prompt_hash,
)
from sureline.core.opinions.fence import unforgeable
from sureline.core.opinions.spans import Passages
from sureline.core.opinions.truth_reply import NotRead
from sureline.core.values.finding import Finding
from sureline.core.values.mission import Mission
from sureline.core.values.mission_kind import MissionJudge, MissionKind
from sureline.core.values.model_card import ModelCard, Usage
from sureline.errors import InvalidInput, ModelFailed


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelMissionJudge:
    """Asks the model that a kind's policy names; `new_nonce` makes fences nobody can forge."""

    client: ModelClient
    new_nonce: Callable[[], str]

    async def judge(self, mission: Mission, kind: MissionKind) -> Evaluation:
        """Return the verdict on what the evidence shows, or why there is none.

        A kept reply is never taken for a new look. Faults: `no_judge` (the policy names none),
        `same_model` (the judge, or the model that answered for it, is the actor), `deadline`,
        `unreadable_evidence`, those of `ask_for` and of `read_achieved`. Raises what the client
        raises beside ModelFailed.
        """
        settings = kind.judge
        if settings is None:
            return _failed("no_judge")
        card = ModelCard(
            asked=settings.model,
            prompt=mission_prompt_hash(settings.guidance),
            temperature=settings.temperature,
        )
        asked = kinship(settings.model, settings.family, mission, kind)
        if asked.kinship is Kinship.SAME_MODEL and not settings.allow_same_model:
            return _failed("same_model", card, _note(settings.model, asked))
        try:
            return await self._judged(mission, kind, settings, card)
        except TimeoutError:
            return _failed("deadline", card)
        except ModelFailed as error:
            return _failed(error.reason, _answered(card, error.detail), *error.findings)
        except InvalidInput:
            return _failed("unreadable_evidence", card)

    async def _judged(
        self, mission: Mission, kind: MissionKind, settings: MissionJudge, card: ModelCard
    ) -> Evaluation:
        seen = bundle(mission, kind)
        async with asyncio.timeout(settings.seconds * SHARE_OF_TIME):
            opinion = await self._opinion(mission, seen, settings, card)
        answered = opinion.card.answered or settings.model
        found = max(
            kinship(settings.model, settings.family, mission, kind),
            kinship(answered, settings.family, mission, kind),
            key=lambda one: one.kinship.rank,
        )
        notes = () if found.kinship is Kinship.NONE else (_note(answered, found),)
        if found.kinship is Kinship.SAME_MODEL and not settings.allow_same_model:
            return _failed("same_model", opinion.card, *notes)
        said = opinion.said
        return Evaluation(
            source=EvaluationSource.JUDGE,
            achieved=said.achieved,
            confidence=said.confidence,
            reasoning=said.reasoning,
            progress=said.progress,
            completeness=seen.completeness,
            card=opinion.card,
            findings=notes,
        )

    async def _opinion(
        self, mission: Mission, seen: Bundle, settings: MissionJudge, card: ModelCard
    ) -> Opinion[SaidAchieved]:
        asking = Asking(
            model=settings.model,
            max_tokens=MOST_TOKENS,
            temperature=settings.temperature,
            schema=SCHEMA,
            fresh=True,
        )
        texts = tuple(text for _, text in seen.shown.parts)
        instructions = mission_instructions(settings.guidance)
        figures = mission_figures(seen, mission.invocations)
        nonce = unforgeable(self.new_nonce, texts)
        prompt = Prompt(
            instructions=instructions,
            content=mission_content(seen, mission.invocations, nonce),
            digest=seen.shown.digest(f"{instructions}\n{figures}\n{REMINDER}"),
        )
        read = partial(_read, given=Passages(texts))
        return await ask_for(self.client, prompt, asking, read, card=card)


def _read(text: str, given: Passages) -> SaidAchieved | Unreadable:
    found = read_achieved(text, given)
    return unreadable(found) if isinstance(found, NotRead) else found


def _note(model: str, found: Found) -> Finding:
    what = "the model" if found.kinship is Kinship.SAME_MODEL else "of the family"
    words = f"The judge {model} is {what} of the actor ({found.actor})."
    return Finding(code=found.kinship.value, message=words)


def _answered(card: ModelCard, detail: Mapping[str, Any]) -> ModelCard:
    """Return the card of a question that came to nothing, with what it took as far as is told."""
    if "calls" not in detail:
        return card
    usage = Usage(
        input_tokens=detail.get("input_tokens"),
        output_tokens=detail.get("output_tokens"),
        cost=detail.get("cost"),
        seconds=detail.get("ms", 0) / 1000,
        calls=detail["calls"],
        retries=detail.get("retries", 0),
    )
    return replace(card, answered=detail.get("model"), usage=usage)


def _failed(fault: str, card: ModelCard | None = None, *findings: Finding) -> Evaluation:
    return Evaluation(
        source=EvaluationSource.JUDGE, fault=fault, card=card, findings=tuple(findings)
    )
