"""Put outputs known to be bad, and good, to the second models that a policy names (G3)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from sureline.application.ask_judge import ask_judge
from sureline.application.canary_evaluators import CANARY_SLICE, Examinee, examinees
from sureline.application.canary_standings import Standing, standing_after
from sureline.application.measure import SOURCE_SECONDS, run_source
from sureline.application.models_seen import ModelWatch, models_seen
from sureline.application.policies import PolicyBook
from sureline.application.ports.canary_runs import CanaryRuns
from sureline.application.ports.clock import Clock
from sureline.application.ports.registry import Registry
from sureline.application.ports.signals import Judge, SignalSource
from sureline.core.gate.answered import answers_in
from sureline.core.gate.canaries import JUDGE, identity_of
from sureline.core.opinions.canary import Canary, CanarySet
from sureline.core.opinions.canary_making import written_for
from sureline.core.opinions.canary_run import LINE, CanaryRun, CanaryScore
from sureline.core.values.policy import Policy
from sureline.core.values.proposal import Proposal, SourceText
from sureline.core.values.signal import Signal
from sureline.errors import InvalidInput

MONTH = timedelta(days=30)
"""How long a run speaks for an evaluator before it is due again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """How canaries are run: from which `line` a score lets pass, from which `seed` bad ones are
    made (None: a new one), and what is told after each answer.
    """

    line: float = LINE
    seed: str | None = None
    advance: Callable[[int], None] = lambda _: None

    def __post_init__(self) -> None:
        if not 0 < self.line <= 1:
            raise InvalidInput("expected a number above 0, at most 1", field="line")


@dataclass(frozen=True, slots=True, kw_only=True)
class Canaries:
    """Runs the canaries of one workspace through the very code that real proposals take.

    `judge` and `evaluator` must ask anew, whatever replies are kept. At most `concurrency` are
    asked at once.
    """

    runs: CanaryRuns
    registry: Registry
    policies: PolicyBook
    models: ModelWatch
    judge: Judge
    evaluator: SignalSource
    canaries: Callable[[], CanarySet]
    clock: Clock
    new_id: Callable[[], str]
    workspace: str
    concurrency: int = 8

    def written(self, seed: str) -> tuple[Canary, ...]:
        """Return every canary of a run with this seed."""
        return written_for(self.canaries(), seed)

    async def run(
        self, asked: Sequence[Examinee], examination: Examination | None = None
    ) -> tuple[CanaryRun, ...]:
        """Examine second models and store what came of it. Raises StoreError.

        A model that cannot be asked leaves its run incomplete; nothing is made up for it.
        """
        how = examination or Examination()
        return tuple([await self._examine(one, how) for one in asked])

    async def due(self) -> tuple[Examinee, ...]:
        """Return the second models of the current policy without a complete run of this month.

        Raises PolicyError.
        """
        since = self.clock.now() - MONTH
        return tuple(one.examinee for one in await self.standings() if one.is_older_than(since))

    async def standings(self) -> tuple[Standing, ...]:
        """Return the second models of the current policy with their latest runs that count.

        A run speaks for the model that answered it, the prompt, the deductions, the guidance and
        the temperature. Raises PolicyError.
        """
        policy = await self.policies.latest()
        counted = {run.identity: run for run in await self.runs.all(self.workspace) if run.counts}
        latest = (await models_seen(self.registry, self.workspace)).latest
        return tuple(
            Standing(
                examinee=one,
                run=counted.get(
                    identity_of(replace(one.evaluator, answered=latest.get(one.evaluator.asked)))
                ),
            )
            for one in self.named(policy)
        )

    @staticmethod
    def named(
        policy: Policy, *, slice_key: str | None = None, role: str | None = None
    ) -> tuple[Examinee, ...]:
        """Return the second models that a policy names; raises as `examinees` does."""
        return examinees(policy, slice_key=slice_key, role=role)

    async def _examine(self, one: Examinee, how: Examination) -> CanaryRun:
        seed = how.seed or self.new_id()
        canaries, asked = self.written(seed), one.evaluator.asked
        turns = asyncio.Semaphore(self.concurrency)

        async def ask(canary: Canary) -> Signal:
            async with turns:
                signal = await self._opinion(one, _proposal(canary))
            how.advance(1)
            return signal

        signals = await asyncio.gather(*map(ask, canaries))
        answers = answers_in((signal.detail for signal in signals), (asked,)).get(asked, ())
        answered = answers[0] if len(answers) == 1 else None
        evaluator = replace(one.evaluator, answered=answered)
        run = CanaryRun(
            id=self.new_id(),
            evaluator=evaluator,
            identity=identity_of(evaluator),
            seed=seed,
            line=how.line,
            at=self.clock.now(),
            scores=tuple(map(_score, canaries, signals)),
            answers=answers,
        )
        if answers:
            seen = await models_seen(self.registry, self.workspace)
            await self.models.observe(seen, {asked: answers})
        await self.runs.save(self.workspace, run, standing_after(run, self.workspace))
        return run

    async def _opinion(self, one: Examinee, proposal: Proposal) -> Signal:
        if one.evaluator.role == JUDGE:
            return await ask_judge(self.judge, proposal, one.policy, SOURCE_SECONDS)
        until = asyncio.get_running_loop().time() + SOURCE_SECONDS
        return await run_source(self.evaluator, proposal, one.policy, until)


def _proposal(canary: Canary) -> Proposal:
    """Return a canary as an agent would propose it: nothing says that it is one."""
    return Proposal(
        slice_key=CANARY_SLICE,
        task=canary.task,
        output=canary.output,
        source=(SourceText(ref="source", text=canary.source),),
    )


def _score(canary: Canary, signal: Signal) -> CanaryScore:
    """Return what a signal says of a canary; a judge that is not convinced did not let it pass."""
    score = 0.0 if signal.reason == "inconclusive" else signal.value
    reason = None if score is not None else signal.reason
    return CanaryScore(id=canary.id, mode=canary.mode, score=score, reason=reason)
