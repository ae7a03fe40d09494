"""Make the vectors of past decisions anew, after a slice's embedder has changed (G8)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sureline.application.case_vectors import CaseText, case_vectors, stored_case_text
from sureline.application.fresh_index import REEMBEDDED
from sureline.application.kept_vectors import KeptVectors
from sureline.application.policies import PolicyBook
from sureline.application.ports.clock import Clock
from sureline.application.ports.embedder import Embedded, EmbeddingModel
from sureline.application.ports.ledger import Ledger
from sureline.application.ports.registry import Activation, Registry
from sureline.application.ports.remade_vectors import (
    LabelledCase,
    RemadeVector,
    RemadeVectors,
    Standing,
)
from sureline.core.gate.vectors import vector_fault
from sureline.core.values.counted import counted
from sureline.core.values.policy import SlicePolicy
from sureline.errors import EmbeddingFailed, InvalidInput, Refused

BATCH = 64
"""Decisions whose vectors are made and kept together; what a crash can cost."""

BY = "reembed"
PROBE = "sureline"
"""A text that any model can embed: it tells which model answers."""

_FAILURES = 5
"""Texts that fail in a row before it is asked whether it is the model that fails."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SlicePlan:
    """What there is of a slice's vectors for the embedder that its policy names now.

    `own` were recorded by this very model, `remade` made anew before, `erased` are gone with
    their payloads. `missing` are to be made, the latest verdict first.
    """

    slice_key: str
    policy: SlicePolicy
    model_id: str
    own: int
    remade: int
    erased: int
    missing: tuple[LabelledCase, ...]

    @property
    def embedder(self) -> str:
        """Return the embedder's name in the policy."""
        return self.policy.history.embedder


@dataclass(slots=True, kw_only=True)
class Reembedded:
    """What came of a plan: `made` vectors, `failed` that could not be embedded.

    `erased` were erased meanwhile.
    """

    made: int = 0
    failed: list[str] = field(default_factory=list)
    erased: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reembedder:
    """Makes vectors anew in one workspace; may be stopped at any moment and begun again."""

    ledger: Ledger
    remade: RemadeVectors
    registry: Registry
    policies: PolicyBook
    clock: Clock
    workspace: str
    model_for: Callable[[str], EmbeddingModel]

    async def plan(self, slice_key: str | None = None) -> Sequence[SlicePlan]:
        """Return what is to be done in the slices that give history a weight, or in one of them.

        Each embedder is asked for one short text, to learn which model answers. Raises
        InvalidInput for a slice that is not there or has no history, EmbeddingFailed.
        """
        slices = _with_history((await self.policies.latest()).slices.values(), slice_key)
        ids: dict[str, str] = {}
        for one in slices:
            name = one.history.embedder
            if name not in ids:
                ids[name] = (await self.model_for(name).embedded([PROBE])).model_id
        return [await self._slice_plan(one, ids[one.history.embedder]) for one in slices]

    async def _slice_plan(self, policy: SlicePolicy, model_id: str) -> SlicePlan:
        cases = await self.remade.cases(self.workspace, policy.key, model_id)
        standings = [one.standing for one in cases]
        return SlicePlan(
            slice_key=policy.key,
            policy=policy,
            model_id=model_id,
            own=standings.count(Standing.OWN),
            remade=standings.count(Standing.REMADE),
            erased=standings.count(Standing.ERASED),
            missing=tuple(one for one in cases if one.standing is Standing.MISSING),
        )

    async def carry_out(
        self, plan: SlicePlan, advance: Callable[[int], None] = lambda _: None
    ) -> Reembedded:
        """Make what is missing, the latest verdict first, and put on record that it is done.

        `advance` is told how many decisions were dealt with. Raises EmbeddingFailed where the
        model fails, and Refused where another one answers than when this was planned; what was
        made until then is kept.
        """
        model = KeptVectors(self.model_for(plan.embedder))
        done = Reembedded()
        in_a_row = 0
        for batch in _batches(plan.missing):
            texts = await self._texts(batch, plan.policy)
            done.erased += len(batch) - len(texts)
            for part in await self._embedded(model, texts):
                in_a_row = await self._take(plan, part, done, in_a_row)
                if in_a_row >= _FAILURES:
                    # Raises if it is not the texts that are at fault.
                    await self.model_for(plan.embedder).embedded([PROBE])
                    in_a_row = 0
            advance(len(batch))
        await self._announce(plan, done)
        return done

    async def _texts(
        self, batch: Sequence[LabelledCase], policy: SlicePolicy
    ) -> list[tuple[LabelledCase, CaseText]]:
        """Return what is embedded of each decision whose payload is still there."""
        found = []
        for case in batch:
            stored = await self.ledger.decision(self.workspace, case.decision_id)
            if stored is not None and stored.request is not None:
                found.append((case, stored_case_text(stored.request, policy)))
        # A ledger in a file is read on the loop: let others have it in between.
        await asyncio.sleep(0)
        return found

    async def _embedded(
        self, model: EmbeddingModel, texts: Sequence[tuple[LabelledCase, CaseText]]
    ) -> list[tuple[Sequence[LabelledCase], Embedded | None]]:
        """Embed a batch at once; one by one where that fails, so that only the faulty text does."""
        if not texts:
            return []
        try:
            found = await case_vectors(model, [text for _, text in texts])
            return [([case for case, _ in texts], found)]
        except EmbeddingFailed:
            return [([case], await _alone(model, text)) for case, text in texts]

    async def _take(
        self,
        plan: SlicePlan,
        part: tuple[Sequence[LabelledCase], Embedded | None],
        done: Reembedded,
        in_a_row: int,
    ) -> int:
        """Keep what was made; return how many texts have failed in a row."""
        cases, found = part
        if found is None:
            done.failed.extend(case.decision_id for case in cases)
            return in_a_row + len(cases)
        if found.model_id != plan.model_id:
            raise Refused(
                f"slice {plan.slice_key}: {found.model_id} answers now, {plan.model_id} when this "
                "began; run the command again to make all vectors with the one that answers now"
            )
        made = []
        for case, row in zip(cases, found.rows, strict=True):
            if vector_fault(row, found.dimension):
                done.failed.append(case.decision_id)
                continue
            vector = row.astype("<f4", copy=False).tobytes()
            made.append(RemadeVector(stream=case.stream, seq=case.seq, vector=vector))
        kept = await self.remade.put(self.workspace, plan.model_id, made)
        done.made += kept
        done.erased += len(made) - kept
        return 0

    async def _announce(self, plan: SlicePlan, done: Reembedded) -> None:
        """Put on record how many vectors there are now, unless that was said before.

        Running gates read them at the next verdict after this.
        """
        total = plan.remade + done.made
        subject = f"slice {plan.slice_key}, {plan.model_id}, {counted(total, 'vector')}"
        past = await self.registry.activations(self.workspace, REEMBEDDED)
        if not total or any(one.subject == subject for one in past):
            return
        await self.registry.activate(
            Activation(
                workspace=self.workspace,
                kind=REEMBEDDED,
                subject=subject,
                by=BY,
                at=self.clock.now(),
                note=f"{counted(done.made, 'vector')} made anew, {len(done.failed)} could not be",
            )
        )


def _with_history(slices: Iterable[SlicePolicy], wanted: str | None) -> list[SlicePolicy]:
    known = {one.key: one for one in slices}
    if wanted is not None and wanted not in known:
        names = ", ".join(sorted(known)) or "none"
        raise InvalidInput(f"the policy has no slice {wanted!r} (it has: {names})", field="--slice")
    found = [known[key] for key in sorted(known) if wanted in {None, key}]
    weighed = [one for one in found if one.weights.get("history", 0.0) > 0.0]
    if wanted is not None and not weighed:
        raise InvalidInput(f"slice {wanted} gives the signal history no weight", field="--slice")
    return weighed


def _batches(cases: Sequence[LabelledCase]) -> Iterator[Sequence[LabelledCase]]:
    for start in range(0, len(cases), BATCH):
        yield cases[start : start + BATCH]


async def _alone(model: EmbeddingModel, text: CaseText) -> Embedded | None:
    try:
        return await case_vectors(model, [text])
    except EmbeddingFailed:
        return None
