"""The self-evaluation: a smaller model names the failure modes that apply (G1)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from sureline.application.measure import SOURCE_SECONDS
from sureline.application.opinions.asking import Opinion, Unreadable, ask_for
from sureline.application.ports.models import Asking, ModelClient, Prompt
from sureline.core.opinions.deduction_reply import Applied, NotRead, read_deductions
from sureline.core.opinions.deductions import (
    Deduction,
    deductions_hash,
    deductions_of,
    points_taken,
    score,
)
from sureline.core.opinions.evaluation_prompt import (
    TEMPLATE_HASH,
    evaluation_question,
    reply_schema,
)
from sureline.core.opinions.fence import unforgeable
from sureline.core.opinions.shown import Shown, shown
from sureline.core.opinions.spans import Passages, shortened
from sureline.core.values.finding import Finding
from sureline.core.values.model_card import ModelCard
from sureline.core.values.policy import SelfEvaluationPolicy, SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind
from sureline.errors import ModelFailed

NOT_FOUND = "span_not_found"
"""The code of the remark that a passage is nowhere in what the model was shown."""

SHARE_OF_TIME = 0.9
"""The model has so much of the time there is; the rest is for saying that it did not answer."""

MOST_TOKENS = 4096
"""Room for a model that reasons before it answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfEvaluator:
    """Asks the model that a slice's policy names; `new_nonce` makes fences nobody can forge."""

    client: ModelClient
    new_nonce: Callable[[], str]
    name: str = "self_evaluation"
    kind: SignalKind = SignalKind.JUDGE

    def wanted(self, proposal: Proposal, policy: SlicePolicy) -> bool:  # noqa: ARG002
        """Tell whether the slice has a self-evaluation."""
        return policy.self_evaluation is not None

    async def measure(self, proposal: Proposal, policy: SlicePolicy) -> Signal:
        """Return the signal: 1 minus a hundredth for each point of the modes that apply.

        The model only names modes; nothing else that it says changes the value. Raises ModelFailed
        with the reason where it cannot be asked or read.
        """
        settings = policy.self_evaluation
        if settings is None:
            raise ModelFailed("not_configured")
        modes, card = deductions_of(settings.deductions), _card(settings)
        try:
            case = shown(proposal)
        except ModelFailed as error:
            raise ModelFailed(error.reason, detail=card.detail) from error
        given = Passages((case.output, *case.others))
        seconds = SOURCE_SECONDS if proposal.deadline is None else proposal.deadline
        try:
            async with asyncio.timeout(seconds * SHARE_OF_TIME):
                opinion = await ask_for(
                    self.client,
                    self._prompt(case, modes),
                    _asking(settings, modes),
                    partial(_read, modes=modes, given=given),
                    card=card,
                )
        except TimeoutError as error:
            raise ModelFailed("deadline", detail=card.detail) from error
        return self._signal(opinion, given)

    def _prompt(self, case: Shown, modes: Sequence[Deduction]) -> Prompt:
        nonce = unforgeable(self.new_nonce, (case.output, *case.others))
        question = evaluation_question(case, modes, nonce)
        return Prompt(
            instructions=question.instructions, content=question.content, digest=question.digest
        )

    def _signal(self, opinion: Opinion[tuple[Applied, ...]], given: Passages) -> Signal:
        applied = opinion.said
        points = points_taken(one.deduction for one in applied)
        findings = tuple(_findings(applied, given))
        return Signal.measured(
            self.name,
            self.kind,
            score(points),
            detail={
                "ids": [one.deduction.id for one in applied],
                "count": len(applied),
                "points": points,
                "spans_not_found": sum(one.code == NOT_FOUND for one in findings),
                **opinion.card.detail,
            },
            findings=findings,
        )


def _asking(settings: SelfEvaluationPolicy, modes: Sequence[Deduction]) -> Asking:
    return Asking(
        model=settings.model,
        max_tokens=MOST_TOKENS,
        temperature=settings.temperature,
        schema=reply_schema(one.id for one in modes),
    )


def _card(settings: SelfEvaluationPolicy) -> ModelCard:
    return ModelCard(
        asked=settings.model,
        prompt=TEMPLATE_HASH,
        deductions=deductions_hash(settings.deductions),
        temperature=settings.temperature,
    )


def _read(
    text: str, modes: Sequence[Deduction], given: Passages
) -> tuple[Applied, ...] | Unreadable:
    found = read_deductions(text, modes, given)
    return Unreadable(found.reason, found.complaint) if isinstance(found, NotRead) else found


def _findings(applied: Sequence[Applied], given: Passages) -> Iterator[Finding]:
    """Yield a finding for each mode, and one for each passage of it that is not there."""
    for one in applied:
        mode = one.deduction
        quoted = ", ".join(f"“{shortened(span)}”" for span in one.spans if span.strip())
        message = f"{mode.text.strip()} {quoted}".strip()
        yield Finding(code=mode.id, message=message, penalty=mode.points * 10)
        for span in one.spans:
            if not given.has(span):
                missing = f"What is quoted for {mode.id} was not found: “{shortened(span)}”"
                yield Finding(code=NOT_FOUND, message=missing)
