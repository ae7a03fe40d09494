"""What whoever is on call reads beside decisions: switches, guards, missions, jobs, models (L9)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sureline.application.policies import PolicyBook
from sureline.application.ports.clock import Clock
from sureline.application.ports.jobs import JobState, JobStore
from sureline.application.ports.ledger import Ledger
from sureline.application.ports.missions import MissionStore
from sureline.application.ports.outbox_standing import OutboxStandings
from sureline.application.ports.switches import HardSwitch
from sureline.core.gate.routing import GUARD
from sureline.core.values.mission import MissionState
from sureline.core.values.switch import Switch

SCOPES = ("environment", "global", "slice", "batch")
"""Kinds of switches; `environment` are those outside the store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """How things stand.

    `switches` counts those that are on, by kind. `guarded` tells of each slice of the policy
    whether the guard gave it to people. `resting` tells of each model that was asked whether it is
    left alone after faults. `missions` counts them by kind and state. `untold_seconds` is how long
    the oldest notice waits.
    """

    switches: Mapping[str, int]
    guarded: Mapping[str, bool]
    resting: Mapping[str, bool]
    jobs: Sequence[JobState]
    missions: Mapping[str, Mapping[MissionState, int]]
    untold: int
    untold_seconds: float
    dead: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationsReader:
    """Reads how things stand; `resting` asks this process's own model client."""

    ledger: Ledger
    policies: PolicyBook
    hard_switch: HardSwitch
    outbox: OutboxStandings
    jobs: JobStore
    missions: MissionStore
    resting: Callable[[], Mapping[str, bool]]
    clock: Clock
    workspace: str

    async def read(self) -> Operations:
        """Return how things stand now. Raises PolicyError and StoreError."""
        workspace = self.workspace
        hard = self.hard_switch.read(workspace)
        stored = [one for one in await self.ledger.switches(workspace) if one.on]
        outbox = await self.outbox.read(workspace)
        waits = 0.0
        if outbox.oldest is not None:
            waits = max(0.0, (self.clock.now() - outbox.oldest).total_seconds())
        policy = await self.policies.latest()
        return Operations(
            switches=counted(hard, stored),
            guarded=guarded(policy.slices, stored),
            resting=self.resting(),
            jobs=await self.jobs.states(workspace),
            missions=await self.missions.counts(workspace),
            untold=outbox.waiting,
            untold_seconds=waits,
            dead=outbox.dead,
        )


def counted(hard: Sequence[Switch], stored: Iterable[Switch]) -> dict[str, int]:
    """Count switches that are on by the kind of their scope, every kind included."""
    kinds = Counter(one.scope.partition(":")[0] for one in stored)
    return {kind: kinds[kind] for kind in SCOPES} | {"environment": len(hard)}


def guarded(slices: Iterable[str], stored: Iterable[Switch]) -> dict[str, bool]:
    """Tell of each slice whether a switch of the guard is on."""
    tripped = {one.scope for one in stored if one.by == GUARD}
    return {key: f"slice:{key}" in tripped for key in slices}
