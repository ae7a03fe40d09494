"""Decide: a proposal comes in, a recorded decision comes out. Read this file first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta

from sureline.application.answer import Answer, assemble, record_of, replay
from sureline.application.ask_judge import ask_judge
from sureline.application.case import Case
from sureline.application.current import Current, Currents
from sureline.application.door import Door, Entered, Rules
from sureline.application.identify import Identity
from sureline.application.measure import SOURCE_SECONDS, Measurements, Measurer
from sureline.application.models_seen import ModelWatch
from sureline.application.ports.clock import Clock
from sureline.application.ports.ledger import Ledger, Prior
from sureline.application.ports.signals import Judge
from sureline.application.ports.switches import HardSwitch
from sureline.application.ports.tracing import UNTRACED, Span, Tracer
from sureline.application.traced import note_decision, note_replay, note_signal
from sureline.core.gate.answered import ModelsSeen, answers_in
from sureline.core.gate.composition import assess
from sureline.core.gate.judging import Judging
from sureline.core.gate.routing import route
from sureline.core.gate.strata import stratum_of
from sureline.core.opinions.unavailable import require_opinions
from sureline.core.values.assessment import Assessment
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind
from sureline.core.values.switch import Switch

ATTEMPT_WINDOW = timedelta(hours=24)
"""How long a failed attempt at a task counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decider:
    """The gate's use case with the ports that it needs."""

    ledger: Ledger
    currents: Currents
    measurer: Measurer
    judge: Judge | None
    models: ModelWatch
    hard_switch: HardSwitch
    clock: Clock
    secret: bytes
    new_id: Callable[[], str]
    representative: bool = True
    """False for a log whose rows somebody chose: their labels certify nothing (G23)."""
    can_wait: bool = False
    """True for a log: what a provider's fault kept from being measured is not recorded."""
    queues: bool = True
    """False for a log: nobody waits for what was decided elsewhere long ago."""
    tracer: Tracer = UNTRACED
    redacting: dict[str, Rules] = field(default_factory=dict)
    """What each slice redacts, as far as is known; see `Door`."""

    async def decide(self, proposal: Proposal) -> Answer:
        """Measure, compose, judge if sampled, route, and record.

        The decision is on disk when this returns. The same id with the same content returns the
        stored decision. Raises UnknownSlice, InvalidInput, Conflict and StoreError, and
        ModelFailed where it `can_wait` and an opinion could not be had yet.
        """
        with self.tracer.span("decide") as span:
            return await self._decided(proposal, span)

    async def _decided(self, proposal: Proposal, span: Span) -> Answer:
        started = self.clock.monotonic()
        door = Door(secret=self.secret, rules=self.redacting)
        entered = await door.enter(proposal, self.currents, self._prior)
        identity, prior = entered.identity, entered.prior
        if entered.current is None or prior.existing is not None:
            return await self._replayed(door, entered, span)
        case = self._open(entered, entered.current)
        noted = case.current.seen

        measured = await self.measurer.measure(
            case, prior.verdict_mark, self._seconds_left(case, started)
        )
        case, signals = self._heard(case, measured.signals)
        assessed = self._assess(case, measured, signals)
        judging = case.should_judge(assessed)
        if case.policy.judge is not None:
            left = self._seconds_left(case, started)
            case, signals, judging = await self._judged(case, measured, signals, judging, left)
            assessed = self._assess(case, measured, signals)
        if self.can_wait:
            require_opinions(signals)

        # Read as late as possible: a switch that turned on while measuring still counts.
        switches = await self._switches(case)
        around = case.circumstances(judging, switches)
        routing = route(assessed, case.policy, around)
        stratum = stratum_of(routing, assessed, case.policy, around)
        stratum = stratum if self.representative else replace(stratum, representative=False)

        elapsed_ms = round((self.clock.monotonic() - started) * 1000, 3)
        decision = assemble(case, measured, assessed, routing, elapsed_ms=elapsed_ms)
        record = record_of(decision, case, identity, measured, routing, stratum)
        if not self.queues:
            record = replace(record, review=None, retry_of=None)
        with self.tracer.span("record"):
            stored = await self.ledger.append(record)
        note_decision(span, decision, replay=not stored.created)
        await self._note_models(case, noted, assessed)
        return Answer.of(decision, record) if stored.created else replay(stored, identity)

    async def _note_models(self, case: Case, noted: ModelsSeen, assessed: Assessment) -> None:
        """Remember which models answered, where they are others than were known before."""
        if case.answers:
            details = [one.detail for one in assessed.signals]
            now = answers_in(details, case.current.names, kept=False)
            await self.models.observe(noted, now)

    async def _prior(self, proposal: Proposal, identity: Identity) -> Prior:
        return await self.ledger.prior(
            workspace=proposal.workspace,
            slice_key=proposal.slice_key,
            decision_id=proposal.id,
            task_digest=identity.task_digest,
            retry_of=proposal.retry_of,
            since=self.clock.now() - ATTEMPT_WINDOW,
        )

    async def _replayed(self, door: Door, entered: Entered, span: Span) -> Answer:
        existing = entered.prior.existing
        assert existing is not None
        note_replay(span, existing.id)
        return await door.replayed(entered, existing, self.currents)

    def _open(self, entered: Entered, current: Current) -> Case:
        prior = entered.prior
        case = Case.opened(
            entered.proposal,
            current,
            case_id=entered.proposal.id or self.new_id(),
            sample_key=entered.identity.sample_key,
            attempt=1 + max(prior.rejections, prior.chain),
            now=self.clock.now(),
            secret=self.secret,
        )
        if entered.checked is entered.proposal:
            return case
        return replace(case, checked=entered.checked, redacted=entered.redacted)

    def _heard(self, case: Case, signals: tuple[Signal, ...]) -> tuple[Case, tuple[Signal, ...]]:
        """Return the case as the models that gave these signals make it, and what counts."""
        if not case.current.names:
            return case, case.counted(signals)
        details, names = [one.detail for one in signals], case.current.names
        answers, now = answers_in(details, names), answers_in(details, names, kept=False)
        # Also without an answer: what is latest may have changed since the case was opened.
        case = case.measured_by(self.models.known(case.current.seen, now), answers)
        return case, case.counted(signals)

    @staticmethod
    def _assess(case: Case, measured: Measurements, signals: tuple[Signal, ...]) -> Assessment:
        return assess(signals, case.policy, unreadable=measured.unreadable, maps=case.current.maps)

    def _seconds_left(self, case: Case, started: float) -> float:
        """Return what is left of the deadline, for measuring and then for the judge (G32)."""
        if case.proposal.deadline is None:
            return SOURCE_SECONDS
        return max(0.0, case.proposal.deadline - (self.clock.monotonic() - started))

    async def _judged(
        self,
        case: Case,
        measured: Measurements,
        signals: tuple[Signal, ...],
        judging: Judging,
        seconds: float,
    ) -> tuple[Case, tuple[Signal, ...], Judging]:
        """Add what the judge says; who answered may bring another threshold, and a stricter duty.

        Judging is mandatory if it is so near the threshold that in the end holds (G10).
        """
        said = await self._judge(case, judging, seconds)
        if not said.detail:
            return case, case.counted((*signals, said)), judging
        case, heard = self._heard(case, (*signals, said))
        unjudged = tuple(one for one in heard if one.name != said.name)
        again = case.should_judge(self._assess(case, measured, unjudged))
        return case, heard, max(judging, again, key=lambda one: one.rank)

    async def _judge(self, case: Case, judging: Judging, seconds: float) -> Signal:
        """Return the signal `judge`; it is asked only where it is sampled and may count."""
        if judging is Judging.NONE:
            return Signal.not_sampled("judge", SignalKind.JUDGE)
        if self.judge is None:
            return Signal.failed("judge", SignalKind.JUDGE, "no_judge_configured")
        if "judge" in case.barred:
            return Signal.failed("judge", SignalKind.JUDGE, case.barred["judge"])
        with self.tracer.span("judge") as span:
            said = await ask_judge(self.judge, case.for_models, case.policy, seconds)
            note_signal(span, said)
            return said

    async def _switches(self, case: Case) -> tuple[Switch, ...]:
        proposal = case.proposal
        stored = await self.ledger.switches_on(
            proposal.workspace, proposal.slice_key, proposal.batch_id
        )
        return (*self.hard_switch.read(proposal.workspace), *stored)
