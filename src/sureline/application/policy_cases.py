"""Try a policy on written cases: which route does each proposal take? (L7)"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from sureline.application.case import Case
from sureline.application.current import Current, Currents
from sureline.application.decide import Decider
from sureline.application.fault_words import in_words
from sureline.application.intake import read_proposal
from sureline.application.measure import Measurements, Measurer
from sureline.core.gate.canaries import unbound
from sureline.core.values.certificate import Certificate, ErrorRate, MissedErrors
from sureline.core.values.decision import Decision, Route
from sureline.core.values.policy import Policy, SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind
from sureline.core.values.verdict import Verdict
from sureline.errors import NotFound

SECRET = b"policy test"
"""Draws the samples, so that a case gives the same route on every machine."""

_KINDS = {
    "verification": SignalKind.DETERMINISTIC,
    "history": SignalKind.HISTORICAL,
    "self_report": SignalKind.SELF_REPORT,
    "self_evaluation": SignalKind.JUDGE,
}
_FORBID = ConfigDict(extra="forbid", frozen=True)
_Unit = Annotated[float, Field(ge=0.0, le=1.0)]


class GivenVerdict(BaseModel):
    """What the judge says in a case, should it be asked."""

    model_config = _FORBID

    agrees: bool
    confidence: _Unit = 1.0
    failure_mode: str | None = None


class Expectation(BaseModel):
    """What a case must lead to; reasons are codes that must all be among those given."""

    model_config = _FORBID

    route: Route
    would_route: Route | None = None
    reasons: tuple[str, ...] = ()


class Setting(BaseModel):
    """The keys of a case beside those of its proposal.

    `signals` are taken as given instead of measured: a number in [0, 1], `failed`, or the reason
    why there is none (`too_few`, `novel`, ...). `threshold` stands for a certificate. `now` is the
    moment of the decision, for rules about dates.
    """

    model_config = _FORBID

    expect: Expectation | Route
    name: str | None = None
    signals: dict[str, _Unit | str] = {}
    judge: GivenVerdict | None = None
    threshold: _Unit | None = None
    now: AwareDatetime | None = None

    @property
    def expected(self) -> Expectation:
        """Return the expectation, written out."""
        return (
            self.expect if isinstance(self.expect, Expectation) else Expectation(route=self.expect)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyCase:
    """One case: a proposal and how it is set."""

    name: str
    proposal: Proposal
    setting: Setting


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """What became of a case; `mismatches` are sentences, none where all is as expected."""

    name: str
    decision: Decision
    mismatches: tuple[str, ...]


def read_case(raw: Mapping[str, Any], number: int) -> PolicyCase:
    """Read a case; every one has its own workspace, so that none counts as another's retry.

    Raises InvalidInput naming the fields at fault.
    """
    mine = {key: value for key, value in raw.items() if key in Setting.model_fields}
    try:
        setting = Setting.model_validate(mine)
    except ValidationError as error:
        raise in_words(error, mine, shape=Setting, whole="case") from None
    name = setting.name or str(raw.get("id") or f"line {number}")
    rest = {key: value for key, value in raw.items() if key not in mine}
    rest.setdefault("id", name)
    return PolicyCase(
        name=name, proposal=read_proposal(rest, workspace=f"case-{number}"), setting=setting
    )


async def run_case(case: PolicyCase, decider: Decider) -> CaseResult:
    """Decide about a case with the gate's own use case and compare."""
    setting = case.setting
    clock = decider.clock if setting.now is None else _Stopped(setting.now)
    fixed = replace(
        decider,
        measurer=_FixedMeasurer(decider.measurer, _signals(setting)),
        currents=_FixedCurrents(decider.currents, setting.threshold, clock.now()),
        judge=_FixedJudge(setting.judge),
        clock=clock,
        secret=SECRET,
    )
    decision = (await fixed.decide(case.proposal)).decision
    return CaseResult(
        name=case.name, decision=decision, mismatches=_mismatches(setting.expected, decision)
    )


def _mismatches(expected: Expectation, decision: Decision) -> tuple[str, ...]:
    codes: Sequence[str] = [reason.code for reason in decision.reasons]
    found = []
    if decision.route is not expected.route:
        found.append(f"expected {expected.route}, got {decision.route} ({', '.join(codes)})")
    if expected.would_route is not None and decision.would_route is not expected.would_route:
        found.append(f"expected would_route {expected.would_route}, got {decision.would_route}")
    missing = [code for code in expected.reasons if code not in codes]
    if missing:
        found.append(f"expected the reason {', '.join(missing)}, got {', '.join(codes)}")
    return tuple(found)


def _signals(setting: Setting) -> dict[str, Signal]:
    return {name: _signal(name, says) for name, says in setting.signals.items()}


def _signal(name: str, says: float | str) -> Signal:
    kind = _KINDS.get(name, SignalKind.OBJECTIVE)
    if isinstance(says, str):
        if says == "failed":
            return Signal.failed(name, kind, "given")
        return Signal.not_applicable(name, kind, says)
    return Signal.measured(name, kind, says)


@dataclass(frozen=True, slots=True)
class _Stopped:
    """A clock that stands at the case's moment."""

    moment: datetime

    def now(self) -> datetime:
        return self.moment

    def monotonic(self) -> float:
        return 0.0


@dataclass(frozen=True, slots=True)
class _FixedJudge:
    """Says what the case says; a case that says nothing has no judge to ask."""

    verdict: GivenVerdict | None

    async def judge(
        self,
        proposal: Proposal,  # noqa: ARG002 - a port's signature
        policy: SlicePolicy,  # noqa: ARG002
    ) -> Verdict:
        if self.verdict is None:
            raise NotFound("the case gives no verdict")
        return Verdict(**self.verdict.model_dump())


class _FixedMeasurer(Measurer):
    """Measures, then puts the given signals in the place of those measured."""

    def __init__(self, inner: Measurer, given: Mapping[str, Signal]) -> None:
        super().__init__(history=None)
        self._inner, self._given = inner, given

    async def measure(self, case: Case, verdict_mark: int, seconds: float) -> Measurements:
        measured = await self._inner.measure(case, verdict_mark, seconds)
        kept = [one for one in measured.signals if one.name not in self._given]
        return replace(measured, signals=(*kept, *self._given.values()))


class _FixedCurrents(Currents):
    """Puts a certificate with the case's threshold in place; canaries are taken as passed."""

    def __init__(self, inner: Currents, threshold: float | None, now: datetime) -> None:
        self._inner, self._threshold, self._now = inner, threshold, now

    async def at(
        self, slice_key: str, activation_mark: int, *, secret: bytes, sample_key: str
    ) -> Current:
        current = await self._inner.at(
            slice_key, activation_mark, secret=secret, sample_key=sample_key
        )
        current = replace(current, policy=unbound(current.policy))
        if self._threshold is None:
            return current
        return replace(current, certificate=_certificate(current, self._threshold, self._now))

    async def stored(self, policy_hash: str) -> Policy:
        return await self._inner.stored(policy_hash)


def _certificate(current: Current, threshold: float, now: datetime) -> Certificate:
    policy = current.policy
    allowance = MissedErrors(
        caught=0,
        shown=0,
        pooled=False,
        noticed_at_least=1.0,
        labels_target=policy.target_precision,
        labels_delta=policy.delta,
    )
    return Certificate(
        id="case",
        missed_errors=allowance if policy.certify_missed_errors else None,
        workspace="case",
        slice_key=policy.key,
        threshold=threshold,
        target=policy.target_precision,
        delta=policy.delta,
        error_rate=ErrorRate.PER_SLICE,
        family_size=1,
        n=0,
        in_band=0,
        correct=0,
        coverage=0.0,
        lower_bound=policy.target_precision,
        method="case",
        data_hash="case",
        policy_hash=current.policy_hash,
        measurement_hash=current.measurement_hash,
        issued_at=now,
    )
