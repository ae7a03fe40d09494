"""Fakes for the tests of programs that use sureline: no model, no clock, no chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from sureline.application.ports.clock import Clock
from sureline.application.ports.missions import MissionJudgePort
from sureline.application.ports.models import Asking, ModelClient, Prompt, Reply
from sureline.application.ports.signals import Judge, SignalSource
from sureline.bootstrap import Plugins, Services, check_sources, open_services
from sureline.core.mission.evaluation import Evaluation, EvaluationSource
from sureline.core.values.mission import Mission
from sureline.core.values.mission_kind import MissionKind
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind, SignalState
from sureline.core.values.switch import Switch
from sureline.core.values.verdict import Verdict
from sureline.gate import Gate

MOMENT = datetime(2026, 1, 5, 9, 0, tzinfo=UTC)
"""Where a FixedClock starts."""


@dataclass(slots=True)
class FixedClock:
    """A clock that stands still until it is told to advance."""

    moment: datetime = MOMENT

    def now(self) -> datetime:
        """Return the moment it stands at."""
        return self.moment

    def monotonic(self) -> float:
        """Return its moment in seconds."""
        return self.moment.timestamp()

    def advance(self, step: timedelta) -> None:
        """Move on."""
        self.moment += step


@dataclass(frozen=True, slots=True)
class FixedSignal:
    """A source that always says the same.

    `says` is its value in [0, 1], or the state in which it ends: failed or not_applicable.
    """

    name: str
    kind: SignalKind
    says: float | SignalState

    async def measure(self, proposal: Proposal, policy: SlicePolicy) -> Signal:
        """Return the fixed signal."""
        if not isinstance(self.says, SignalState):
            return Signal.measured(self.name, self.kind, self.says)
        return Signal(name=self.name, kind=self.kind, state=self.says, reason="fixed")


@dataclass(slots=True)
class FakeJudge:
    """A judge that always gives the same verdict, or raises; `asked` lists what it was shown."""

    says: Verdict | Exception = field(default_factory=lambda: Verdict(agrees=True, confidence=1.0))
    asked: list[Proposal] = field(default_factory=list)

    async def judge(self, proposal: Proposal, policy: SlicePolicy) -> Verdict:
        """Return the verdict, or raise the error."""
        self.asked.append(proposal)
        if isinstance(self.says, Exception):
            raise self.says
        return self.says


@dataclass(slots=True)
class FakeMissionJudge:
    """A judge of missions that says what it is told to; `asked` lists the missions it was shown.

    `says` is an evaluation, an exception that it raises, or makes one of them of a mission.
    `FakeMissionJudge.saying(True, 0.9)` is sure that everything is achieved.
    """

    says: Evaluation | Exception | Callable[[Mission], Evaluation | Exception]
    asked: list[Mission] = field(default_factory=list)

    @classmethod
    def saying(cls, achieved: bool, confidence: float, **more: Any) -> FakeMissionJudge:
        """Return a judge that always says this; `more` are other fields of an Evaluation."""
        judge = EvaluationSource.JUDGE
        return cls(Evaluation(source=judge, achieved=achieved, confidence=confidence, **more))

    async def judge(self, mission: Mission, kind: MissionKind) -> Evaluation:
        """Return the evaluation, or raise the error."""
        self.asked.append(mission)
        said = self.says(mission) if callable(self.says) else self.says
        if isinstance(said, Exception):
            raise said
        return said


@dataclass(slots=True)
class FakeModels:
    """Language models that answer what `says` makes of a prompt; `asked` lists the prompts.

    `says` returns the text of the reply, a whole Reply, or raises ModelFailed. Nothing else than
    what a real model would be shown is shown to it.
    """

    says: Callable[[Prompt, Asking], str | Reply]
    asked: list[tuple[Prompt, Asking]] = field(default_factory=list)

    async def ask(self, prompt: Prompt, asking: Asking) -> Reply:
        """Return what `says` says; the model answers under the name that was asked."""
        self.asked.append((prompt, asking))
        said = self.says(prompt, asking)
        return said if isinstance(said, Reply) else Reply(text=said, model=asking.model)


@dataclass(frozen=True, slots=True)
class PinnedSampling:
    """Fixes what is sampled for judging and auditing: the same ids give the same samples."""

    secret: bytes = b"pinned for tests"

    def pin(self, services: Services) -> Services:
        """Return the services with this secret in place of the store's."""
        return replace(services, decider=replace(services.decider, secret=self.secret))


class _NoSwitch:
    """Ignores the environment of the machine that runs the tests."""

    def read(self, workspace: str) -> Sequence[Switch]:
        return ()


@contextmanager
def temporary_gate(
    policy: str,
    *,
    signals: Sequence[SignalSource] = (),
    judge: Judge | None = None,
    mission_judge: MissionJudgePort | None = None,
    models: Mapping[str, Any] | None = None,
    model_client: ModelClient | None = None,
    clock: Clock | None = None,
    sampling: PinnedSampling | None = None,
) -> Iterator[Gate]:
    """Yield a gate on a store in memory that is gone afterwards; `policy` is YAML text.

    The clock stands still unless another is given, what is sampled is pinned, and the kill switch
    of the environment is not read. Raises PolicyError.
    """
    plugins = Plugins(
        signals=signals,
        judge=judge,
        mission_judge=mission_judge,
        models=models or {},
        model_client=model_client,
        clock=clock or FixedClock(),
        hard_switch=_NoSwitch(),
    )
    services = (sampling or PinnedSampling()).pin(open_services("sqlite://", plugins=plugins))
    with Gate(services) as gate:
        gate.run(services.policies.introduce(policy))
        check_sources(gate.run(services.policies.latest()), plugins)
        yield gate
