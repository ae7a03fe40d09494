"""Measure a proposal: run every signal's source at once, each with its own time limit."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from sureline.application.case import Case
from sureline.application.ports.signals import Opinion, SignalSource
from sureline.application.ports.tracing import UNTRACED, Tracer
from sureline.application.traced import note_signal
from sureline.core.checks.result import Validator
from sureline.core.checks.verification import Verification, verify
from sureline.core.redacted_findings import unquoting
from sureline.core.values.finding import Finding
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind, SignalState
from sureline.errors import ModelFailed

SOURCE_SECONDS = 30.0
"""How long one source may take where the proposal states no deadline."""


class History(Protocol):
    """Looks up similar past cases; see application/history.py."""

    async def look_up(
        self, proposal: Proposal, policy: SlicePolicy, verdict_mark: int
    ) -> tuple[Signal, bytes | None, str | None]:
        """Return the signal, and the vector to store with its model (None if there is none)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements:
    """All signals of a proposal, with what measuring found out on the way.

    `output` is the parsed output; `unreadable` says that it could not be parsed. `vector` is the
    embedding to store with the decision.
    """

    signals: tuple[Signal, ...]
    output: Any
    unreadable: bool
    findings: tuple[Finding, ...]
    vector: bytes | None
    model_id: str | None


class Measurer:
    """Runs the checks, the history look-up, the plugged-in sources and the opinions of one gate.

    `validators` are registered by the name that a policy's `output.model` uses.
    """

    def __init__(
        self,
        *,
        sources: Sequence[SignalSource] = (),
        opinions: Sequence[Opinion] = (),
        history: History | None,
        validators: Mapping[str, Validator] | None = None,
        tracer: Tracer = UNTRACED,
    ) -> None:
        self._sources = tuple(sources)
        self._opinions = tuple(opinions)
        self._history = history
        self._validators = dict(validators or {})
        self._tracer = tracer

    async def measure(self, case: Case, verdict_mark: int, seconds: float) -> Measurements:
        """Return all signals; a source that raises or is late gives `failed`, never an error.

        `verdict_mark` lets the history know whether there are new verdicts to take in. All of it
        takes `seconds` at most, apart from the checks, which wait for nothing.
        """
        with self._tracer.span("measure"):
            return await self._measured(case, verdict_mark, seconds)

    async def _measured(self, case: Case, verdict_mark: int, seconds: float) -> Measurements:
        until = asyncio.get_running_loop().time() + seconds
        proposal, policy = case.for_models, case.policy
        verified = self._verified(case)
        signals = [verified.signal]
        if proposal.self_report is not None:
            kind = SignalKind.SELF_REPORT
            signals.append(Signal.measured("self_report", kind, proposal.self_report))
        vector, model_id = None, None
        looking = self._look_up(proposal, policy, verdict_mark, until)
        sources = self._sources_for(proposal, policy)
        if looking is not None and not sources:
            past, vector, model_id = await looking
            signals.append(past)
        elif sources:
            running = run_sources(
                sources, proposal, policy, until, case.barred, tracer=self._tracer
            )
            if looking is None:
                signals += await running
            else:
                # One after the other they could take twice the time that there is.
                (past, vector, model_id), said = await asyncio.gather(looking, running)
                signals += [past, *said]
        return Measurements(
            signals=tuple(signals),
            output=verified.output,
            unreadable=verified.parse_failed,
            findings=verified.findings,
            vector=vector,
            model_id=model_id,
        )

    def _verified(self, case: Case) -> Verification:
        """Run the checks, which wait for nothing."""
        with self._tracer.span("signal verification") as span:
            verified = self._checked(case.proposal, case)
            if case.checked is not None:
                verified = unquoting(self._checked(case.checked, case), verified)
            note_signal(span, verified.signal)
            return verified

    def _checked(self, proposal: Proposal, case: Case) -> Verification:
        checks = case.policy.checks
        return verify(
            proposal.output,
            policy=checks,
            task=proposal.task,
            source=proposal.source,
            now=case.opened_at,
            validator=self._validators.get(checks.model or ""),
        )

    def _sources_for(self, proposal: Proposal, policy: SlicePolicy) -> list[SignalSource]:
        wanted = [one for one in self._opinions if one.wanted(proposal, policy)]
        return [*self._sources, *wanted]

    def _look_up(
        self, proposal: Proposal, policy: SlicePolicy, verdict_mark: int, until: float
    ) -> Coroutine[Any, Any, tuple[Signal, bytes | None, str | None]] | None:
        if self._history is None or policy.weights.get("history", 0.0) <= 0.0:
            return None
        if proposal.deadline is not None:
            left = max(0.0, until - asyncio.get_running_loop().time())
            proposal = replace(proposal, deadline=left)
        return self._looked_up(self._history, proposal, policy, verdict_mark)

    async def _looked_up(
        self, history: History, proposal: Proposal, policy: SlicePolicy, verdict_mark: int
    ) -> tuple[Signal, bytes | None, str | None]:
        with self._tracer.span("signal history") as span:
            found = await history.look_up(proposal, policy, verdict_mark)
            note_signal(span, found[0])
            return found


async def run_sources(
    sources: Sequence[SignalSource],
    proposal: Proposal,
    policy: SlicePolicy,
    until: float,
    barred: Mapping[str, str],
    *,
    tracer: Tracer = UNTRACED,
) -> list[Signal]:
    """Return the sources' signals; those `barred` are not asked, and fail with that reason."""

    async def spanned(source: SignalSource) -> Signal:
        with tracer.span(f"signal {source.name}") as span:
            signal = await run_source(source, proposal, policy, until)
            note_signal(span, signal)
            return signal

    asked = [spanned(source) for source in sources if source.name not in barred]
    # One alone needs no task of its own.
    said = [await asked[0]] if len(asked) == 1 else await asyncio.gather(*asked)
    unasked = [one for one in sources if one.name in barred]
    return [*said, *(Signal.failed(one.name, one.kind, barred[one.name]) for one in unasked)]


async def run_source(
    source: SignalSource, proposal: Proposal, policy: SlicePolicy, until: float
) -> Signal:
    """Return a source's signal; a fault of the source becomes the state `failed`.

    `until` is when it is given up, in the seconds of the running loop.
    """
    try:
        async with asyncio.timeout_at(until):
            signal = await source.measure(proposal, policy)
    except TimeoutError:
        return Signal.failed(source.name, source.kind, "deadline")
    except ModelFailed as error:
        return Signal.failed(
            source.name, source.kind, error.reason, detail=error.detail, findings=error.findings
        )
    except asyncio.CancelledError:
        if is_cancelled():
            raise
        # Something inside the source was cancelled, not the decision.
        return Signal.failed(source.name, source.kind, "source_raised")
    except Exception as error:  # noqa: BLE001 - a plug-in may raise anything; none may stop a gate
        return Signal.failed(
            source.name, source.kind, "source_raised", detail={"error": type(error).__name__}
        )
    return _as_declared(signal, source)


def is_cancelled() -> bool:
    """Tell whether the running task itself is being cancelled."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _as_declared(signal: object, source: SignalSource) -> Signal:
    """Refuse what is no signal, or one that goes by another name or kind than its source's."""
    if not isinstance(signal, Signal):
        return Signal.failed(source.name, source.kind, "not_a_signal")
    if (signal.name, signal.kind) != (source.name, source.kind):
        return Signal.failed(source.name, source.kind, "misnamed_signal")
    if signal.state is SignalState.NOT_SAMPLED:
        return Signal.failed(source.name, source.kind, "only_a_judge_is_sampled")
    return signal
