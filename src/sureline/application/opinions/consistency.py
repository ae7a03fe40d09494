"""Measure whether several independent generations agree with an output (G12)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sureline.application.opinions.generations import ask_again
from sureline.application.ports.embedder import Embedded, EmbeddingModel
from sureline.application.ports.models import ModelClient
from sureline.core.checks.parse import parse_output
from sureline.core.checks.paths import ABSENT
from sureline.core.checks.reading import quote
from sureline.core.gate.vectors import vector_fault
from sureline.core.opinions.agreement import agreement
from sureline.core.opinions.json_reply import read_object
from sureline.core.opinions.text_agreement import Saying, TextAgreement, text_agreement
from sureline.core.values.finding import Finding
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind
from sureline.errors import EmbeddingFailed

NAME, KIND = "consistency", SignalKind.SELF_REPORT
"""The answers are the generator's own: a model that is consistently wrong agrees with itself."""

FEWEST = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencySource:
    """Compares an output with the generations that came with it, or asks the generator for some.

    `model_for` knows embedders by the name that a slice's policy has for them.
    """

    client: ModelClient
    new_nonce: Callable[[], str]
    model_for: Callable[[str], EmbeddingModel]
    name: str = NAME
    kind: SignalKind = KIND

    def wanted(self, proposal: Proposal, policy: SlicePolicy) -> bool:
        """Tell whether there are generations to compare with, or the generator may be asked."""
        how = policy.consistency
        if how is None:
            return False
        return bool(proposal.generations) or (how.ask and policy.generator is not None)

    async def measure(self, proposal: Proposal, policy: SlicePolicy) -> Signal:
        """Return the signal.

        Generations that no trusted caller vouches for are claims, and so is the task that the
        generator would be asked again: an agent could choose either so that it agrees with the
        output, and the signal is `not_applicable(claimed)` (G34). So it is with a single
        generation (`too_few_generations`) and with an output that has nothing in it
        (`nothing_to_compare`). An output that cannot be read or compared and vectors that are none
        give `failed`. Raises ModelFailed where the generator cannot be asked.
        """
        if not proposal.trusted:
            return Signal.not_applicable(NAME, KIND, "claimed")
        parsed = parse_output(proposal.output, structured=policy.checks.structured)
        if not parsed.ok:
            return Signal.failed(NAME, KIND, "unreadable_output")
        if len(proposal.generations) in range(1, FEWEST):
            return Signal.not_applicable(NAME, KIND, "too_few_generations")
        others, detail = await self._others(proposal, policy)
        detail = {"generations": len(others), **detail}
        unread = sum(one is ABSENT for one in others)
        if unread:
            detail["unreadable"] = unread
        if isinstance(parsed.value, str):
            return await self._by_text(parsed.value, others, policy, detail)
        return _by_field(parsed.value, others, detail)

    async def _others(
        self, proposal: Proposal, policy: SlicePolicy
    ) -> tuple[list[object], dict[str, Any]]:
        """Return what to compare with, read, and where it is from. Raises ModelFailed."""
        structured = policy.checks.structured
        if proposal.generations:
            return [_read(one, structured=structured) for one in proposal.generations], {}
        asked = await ask_again(self.client, proposal, policy, new_nonce=self.new_nonce)
        answers = [_answer(text, structured=structured) for text in asked.texts]
        return answers, asked.card.detail

    async def _by_text(
        self, output: str, others: Sequence[object], policy: SlicePolicy, detail: dict[str, Any]
    ) -> Signal:
        assert policy.consistency is not None
        texts = [output, *(one for one in others if isinstance(one, str))]
        name = policy.history.embedder
        try:
            found = await self.model_for(name).embedded(texts)
            sayings = iter(_sayings(texts, found))
        except EmbeddingFailed:
            return Signal.failed(NAME, KIND, "embedding_failed", detail=detail)
        detail["embedder"] = found.model_id
        if found.answered is not None and "asked" not in detail:
            detail |= {"asked": name, "model": found.answered}
        first = next(sayings)
        if first.vector is None:
            return Signal.not_applicable(NAME, KIND, "nothing_to_compare", detail=detail)
        said = [next(sayings) if isinstance(one, str) else None for one in others]
        agreed = text_agreement(first, said, policy.consistency.similarity)
        detail |= {"agreeing": agreed.agreeing, "largest_other": agreed.largest_other}
        findings = _differing(agreed)
        return Signal.measured(NAME, KIND, agreed.value, detail=detail, findings=findings)


def _read(generation: object, *, structured: bool) -> object:
    """Return a generation, read as an output is; ABSENT if it cannot be."""
    parsed = parse_output(generation, structured=structured)
    return parsed.value if parsed.ok else ABSENT


def _answer(text: str | None, *, structured: bool) -> object:
    """Return a model's reply as an output: the object in it, or the text."""
    if text is None:
        return ABSENT
    if not structured:
        return _read(text.strip(), structured=False)
    fields = read_object(text).fields
    return ABSENT if fields is None else fields


def _by_field(output: object, others: Sequence[object], detail: Mapping[str, Any]) -> Signal:
    if output in ({}, []):
        return Signal.not_applicable(NAME, KIND, "nothing_to_compare", detail=detail)
    found = agreement(output, others)
    if found is None:
        return Signal.failed(NAME, KIND, "too_many_fields", detail=detail)
    return Signal.measured(
        NAME,
        KIND,
        found.value,
        detail={**detail, "fields": found.fields, "lowest": found.lowest},
        findings=found.findings,
    )


def _differing(found: TextAgreement) -> tuple[Finding, ...]:
    differing = found.generations - found.agreeing
    if not differing:
        return ()
    message = f"{differing} of {found.generations} further generations say something else"
    if found.instead is not None:
        message += f"; {found.largest_other} of them much like {quote(found.instead)}"
    return (Finding(code="generations_differ", message=f"{message}."),)


def _sayings(texts: Sequence[str], found: Embedded) -> list[Saying]:
    """Return the texts with their vectors, none for one with nothing in it.

    Raises EmbeddingFailed for vectors that are none.
    """
    rows = found.rows
    if len(rows) != len(texts):
        raise EmbeddingFailed(f"expected {len(texts)} vectors, got {len(rows)}")
    faults = [vector_fault(row, found.dimension) for row in rows]
    if "bad_vector" in faults:
        raise EmbeddingFailed("the embedder gave a vector that is none of unit length")
    return [
        Saying(text=text, vector=None if fault else row)
        for text, row, fault in zip(texts, rows, faults, strict=True)
    ]
