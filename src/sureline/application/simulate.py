"""Simulate: replay the ledger under another policy, threshold or weights (L7).

No model is called. Recorded signals are composed and routed again by the gate's own rules.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from math import isfinite

import numpy as np

from sureline.application.models_seen import measured_by, models_seen
from sureline.application.policies import PolicyBook
from sureline.application.ports.clock import Clock
from sureline.application.ports.ledger import Ledger, PastDecision
from sureline.application.ports.registry import Registry
from sureline.application.recorded import differing_signals, recorded
from sureline.application.stored_calibration import (
    active_calibration,
    certificates_of,
    maps_of,
)
from sureline.core.gate.answered import ModelsSeen
from sureline.core.gate.calibrating import NO_MAPS
from sureline.core.learning.replay import Recorded, Trial, replay
from sureline.core.learning.simulation import Simulation
from sureline.core.statistics.certificate import Demand, Provenance, certify
from sureline.core.statistics.tally import tally_labels
from sureline.core.values.certificate import Certificate, ErrorRate, Uncertified
from sureline.core.values.policy import Mode, Policy
from sureline.errors import InvalidInput, NotFound, PolicyError, UnknownSlice

TRIED = "tried"
"""Added to the measurement of a slice whose weights are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is tried: each None leaves what holds. Raises InvalidInput for what cannot be.

    `threshold` in [0, 1] replaces any certificate; `weights` by signal replace those of every
    replayed slice; `since` leaves out older decisions.
    """

    policy: Policy | None = None
    threshold: float | None = None
    weights: Mapping[str, float] | None = None
    slice_key: str | None = None
    since: datetime | None = None

    def __post_init__(self) -> None:
        if self.threshold is not None and not 0.0 <= self.threshold <= 1.0:
            raise InvalidInput(f"expected 0 to 1, got {self.threshold}", field="threshold")
        if self.weights is not None:
            given = self.weights.values()
            if not all(isfinite(one) and one >= 0 for one in given) or sum(given) <= 0:
                raise InvalidInput("expected numbers >= 0, not all 0", field="weights")


@dataclass(slots=True)
class Gaps:
    """What could not be measured again, by signal, in decisions.

    `stale` were measured under other settings and taken as recorded; `absent` have a weight and
    no record, so that a person decides; `unknown_policy` were made under a policy that the store
    does not have. `other_models` were measured by other models than answer now.
    """

    stale: Counter[str] = field(default_factory=Counter)
    absent: Counter[str] = field(default_factory=Counter)
    unknown_policy: int = 0
    other_models: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceSimulation:
    """One slice's replay.

    `threshold_from` is `given`, `certificate` (the active one), `labels` (what these labels would
    certify), `hypothesis` or `none`; `missing` says why there is none and `proven` which precision
    the certificate proves. `log_only` says that the tried policy only records, so that the figures
    are those of `mode: route`.
    """

    slice_key: str
    simulation: Simulation
    gaps: Gaps
    threshold: float | None
    threshold_from: str
    proven: float | None
    missing: Uncertified | None
    log_only: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulator:
    """Replays one workspace's decisions; `secret` draws the same samples as the gate."""

    ledger: Ledger
    registry: Registry
    policies: PolicyBook
    clock: Clock
    secret: bytes
    workspace: str

    async def simulate(self, change: Change) -> tuple[SliceSimulation, ...]:
        """Return each slice's replay, by name. Raises UnknownSlice, PolicyError, StoreError.

        Kinds of missions are left out: whether a mission completes is not for a route to say.
        """
        seen = await models_seen(self.registry, self.workspace)
        tried = measured_by(change.policy or await self.policies.latest(), seen)
        if change.slice_key is not None and change.slice_key not in tried.slices:
            known = ", ".join(sorted(tried.slices))
            raise UnknownSlice(f"no slice {change.slice_key!r} (there is: {known})", field="slice")
        if change.slice_key is not None and tried.slices[change.slice_key].is_mission:
            raise UnknownSlice(
                f"{change.slice_key!r} is a kind of mission: its evaluations are not replayed",
                field="slice",
            )
        proposing = sorted(key for key, one in tried.slices.items() if not one.is_mission)
        keys = proposing if change.slice_key is None else [change.slice_key]
        return tuple([await self._slice(tried, key, change, seen) for key in keys])

    async def _slice(
        self, tried: Policy, key: str, change: Change, seen: ModelsSeen
    ) -> SliceSimulation:
        trial = await self._trial(tried, key, change)
        past = _Past(self, tried, key, change.since, seen)
        held, missing = trial.certificate, None
        if held is None and trial.threshold is None:
            verdict = await _certified(past, trial, tried)
            if isinstance(verdict, Certificate):
                trial = replace(trial, certificate=replace(verdict, scale=trial.scale))
            else:
                missing = verdict
        simulation, gaps = Simulation(), Gaps()
        weighted = [name for name, weight in trial.policy.weights.items() if weight > 0]
        async for one, stale in past.decisions(gaps):
            simulation.add(one, replay(one, trial))
            gaps.stale.update(stale)
            names = {signal.name for signal in one.signals}
            gaps.absent.update(name for name in weighted if name not in names)
        threshold, origin = _origin(trial, held)
        return SliceSimulation(
            slice_key=key,
            simulation=simulation,
            gaps=gaps,
            threshold=threshold,
            threshold_from=origin,
            proven=_proven(trial),
            missing=missing,
            log_only=tried.slices[key].mode is Mode.LOG_ONLY,
        )

    async def _trial(self, tried: Policy, key: str, change: Change) -> Trial:
        policy, measurement = tried.slices[key], tried.measurement_hashes[key]
        if policy.mode is Mode.LOG_ONLY:
            policy = replace(policy, mode=Mode.ROUTE)
        reweighted = change.weights is not None and dict(change.weights) != dict(policy.weights)
        if change.weights is not None and reweighted:
            policy = replace(policy, weights=dict(change.weights))
            measurement = f"{TRIED}:{measurement}"
        calibration = await active_calibration(self.registry, self.workspace)
        trial = Trial(
            policy=policy,
            action_classes=tried.action_classes,
            certificate=None,
            threshold=change.threshold,
            measurement=measurement,
            maps=NO_MAPS if reweighted else maps_of(calibration, key, measurement),
            secret=self.secret,
            now=self.clock.now(),
        )
        active = certificates_of(calibration, self.workspace).get(key)
        held = replace(trial, certificate=active, threshold=None)
        valid = active is not None and held.threshold_at(policy.stakes).certificate == active.id
        return replace(trial, certificate=active) if valid else trial


class _Past:
    """One slice's decisions, with the policies that they were made under."""

    def __init__(
        self,
        simulator: Simulator,
        tried: Policy,
        key: str,
        since: datetime | None,
        seen: ModelsSeen,
    ) -> None:
        self.key = key
        self.workspace = simulator.workspace
        self._simulator, self._since = simulator, since
        self._content = tried.raw["slices"][key]
        self._seen = seen
        self._known: dict[str, tuple[Policy | None, frozenset[str]]] = {}

    async def decisions(self, gaps: Gaps) -> AsyncIterator[tuple[Recorded, frozenset[str]]]:
        """Yield each decision with the names of the signals that would be measured otherwise."""
        stream: AsyncIterator[PastDecision] = self._simulator.ledger.past_decisions(
            self.workspace, self.key, self._since
        )
        async for past in stream:
            policy, stale = await self._made_under(past.policy_hash)
            gaps.unknown_policy += policy is None
            one = recorded(past, policy)
            if policy is not None and self._measured_by_others(policy, past):
                gaps.other_models += 1
                # What another model's scores were worth certifies nothing about this one's.
                one = replace(one, certifies=False)
            yield one, stale

    def _measured_by_others(self, policy: Policy, past: PastDecision) -> bool:
        """Tell whether other models answered then than do now, or another generator was named."""
        then = measured_by(policy, self._seen).measurement_hashes.get(self.key)
        return then is not None and then != past.measurement_hash

    async def _made_under(self, policy_hash: str) -> tuple[Policy | None, frozenset[str]]:
        if policy_hash not in self._known:
            try:
                policy = await self._simulator.policies.stored(policy_hash)
            except (NotFound, PolicyError):
                self._known[policy_hash] = None, frozenset()
            else:
                then = policy.raw["slices"].get(self.key, {})
                self._known[policy_hash] = policy, differing_signals(then, self._content)
        return self._known[policy_hash]


async def _certified(past: _Past, trial: Trial, tried: Policy) -> Certificate | Uncertified:
    """Certify the replayed scores by the labels that may certify, as recalibrating would."""
    scores, labels = array("d"), bytearray()
    async for one, _ in past.decisions(Gaps()):
        if one.correct is None or not one.certifies:
            continue
        replayed = replay(one, trial)
        if replayed.eligible and replayed.value is not None:
            scores.append(replayed.value)
            labels.append(one.correct)
    family = sum(one.error_rate is ErrorRate.FAMILY for one in tried.slices.values())
    policy = trial.policy
    return certify(
        tally_labels(np.asarray(scores), np.frombuffer(labels, np.bool_)),
        slice_key=past.key,
        demand=Demand(
            target=policy.target_precision,
            delta=policy.delta,
            error_rate=policy.error_rate,
            family_size=family if policy.error_rate is ErrorRate.FAMILY else 1,
        ),
        provenance=Provenance(
            workspace=past.workspace,
            policy_hash=tried.hash,
            measurement_hash=trial.measurement,
            issued_at=trial.now,
        ),
    )


def _proven(trial: Trial) -> float | None:
    certificate = trial.certificate if trial.threshold is None else None
    return None if certificate is None else certificate.lower_bound


def _origin(trial: Trial, held: Certificate | None) -> tuple[float | None, str]:
    """Return the threshold that was tried and where it comes from."""
    found = trial.threshold_at(trial.policy.stakes)
    if trial.threshold is not None:
        return found.auto, "given"
    if found.certificate is not None:
        return found.auto, "labels" if held is None else "certificate"
    return found.auto, "none" if found.auto is None else "hypothesis"
