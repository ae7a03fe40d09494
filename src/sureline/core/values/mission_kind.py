"""What an operator wrote down about a kind of mission (M1); no agent can change it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

MISSION_SLICE = "mission."
"""A kind of mission is a slice of this prefix and its name: its evaluations are decisions there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The most that a mission may take, None for no limit: tokens, US dollars, calls of tools."""

    tokens: int | None = None
    cost: float | None = None
    calls: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthLimits:
    """When a mission is called unhealthy (M10); None turns a limit off.

    `repeated_calls`: the same call so often in a row. `cycle_repeats`: a sequence of 2 to
    `longest_cycle` calls so often in a row. `empty_answers`: so many in a row. `error_rate`: that
    share, in (0, 1], of the latest `error_window` calls, once there are that many.
    """

    repeated_calls: int | None = 5
    cycle_repeats: int | None = 3
    longest_cycle: int = 6
    empty_answers: int | None = 3
    error_rate: float | None = 0.5
    error_window: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class MissionJudge:
    """The model that says whether the objective is achieved; never the actor's own.

    A try may take `seconds`; after `tries` failures in a row a person is called. `guidance` are an
    operator's words about what counts here.
    """

    model: str
    family: str | None = None
    guidance: str | None = None
    temperature: float | None = None
    seconds: float = 60.0
    tries: int = 3
    allow_same_model: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MissionKind:
    """One kind of mission, defaults resolved.

    `confidence` in [0, 1] is the threshold until a certificate gives another. `evaluate_every`
    counts invocations. `least_evidence` is the share of the evidence that a judge must have seen
    for a mission to complete by itself; it is shown `evidence_characters` at most. An invocation
    in another process is believed to run for `invocation_seconds`, one in this for as long as it
    is heard of every `lease_seconds`. `reminders` are the times after which a person is reminded,
    in seconds since the last; the last one repeats.
    """

    name: str
    judge: MissionJudge | None
    agent_model: str | None = None
    agent_family: str | None = None
    evaluate_every: int = 5
    confidence: float = 0.7
    auto_complete: bool = True
    timeout_hours: float = 24.0
    max_invocations: int = 100
    budget: Budget = field(default_factory=Budget)
    health: HealthLimits = field(default_factory=HealthLimits)
    check_seconds: float = 60.0
    least_evidence: float = 0.5
    evidence_characters: int = 40_000
    invocation_seconds: float = 900.0
    lease_seconds: float = 60.0
    reminders: tuple[float, ...] = (3600.0, 4 * 3600.0, 12 * 3600.0, 24 * 3600.0)

    @property
    def slice_key(self) -> str:
        """Return the slice in which its evaluations are decided, labelled and certified."""
        return f"{MISSION_SLICE}{self.name}"


MissionKinds = Mapping[str, MissionKind]
NO_MISSIONS: MissionKinds = MappingProxyType({})
