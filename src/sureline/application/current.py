"""What holds now: the active policy and the certificates of the active calibration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sureline.application.canary_standings import canary_standings
from sureline.application.holding import holding
from sureline.application.models_seen import models_seen
from sureline.application.policies import PolicyBook
from sureline.application.ports.registry import Registry
from sureline.application.stored_calibration import (
    certificates_of,
    fitted_maps,
    stored_calibration,
)
from sureline.core.gate.answered import (
    ANOTHER_GENERATOR,
    ModelsSeen,
    measurement_with,
    second_models,
)
from sureline.core.gate.calibrating import NO_MAPS, SliceMaps
from sureline.core.gate.canaries import Standings, barred_roles
from sureline.core.gate.sampling import Purpose, is_sampled
from sureline.core.gate.thresholds import Threshold, threshold_now
from sureline.core.values.certificate import Certificate
from sureline.core.values.policy import ActionClass, Hypothesis, Policy, SlicePolicy
from sureline.core.values.proposal import Stakes
from sureline.errors import InvalidInput, UnknownSlice


@dataclass(frozen=True, slots=True, kw_only=True)
class Current:
    """The policy, certificate and hashes that hold for one slice now.

    `base_measurement` is what the policy says that its scores depend on, and `others` are the
    models that answer in place of those it means, by the names that were asked. `certified_base`
    is the base measurement of the active calibration (None if it does not tell); `fitted` are its
    maps, for what is measured as `fitted_on`. `names` are the models that the slice asks.
    """

    policy: SlicePolicy
    certificate: Certificate | None
    action_classes: Mapping[str, ActionClass]
    policy_hash: str
    base_measurement: str
    others: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    certified_base: str | None = None
    fitted: SliceMaps = NO_MAPS
    fitted_on: str | None = None
    names: tuple[str, ...] = ()
    seen: ModelsSeen = field(default_factory=ModelsSeen)
    standings: Standings = field(default_factory=dict)

    @property
    def measurement_hash(self) -> str:
        """Return what scores depend on with the models that answer."""
        return measurement_with(self.base_measurement, self.others)

    @property
    def maps(self) -> SliceMaps:
        """Return the calibration's maps; none where they are of another measurement."""
        return self.fitted if self.fitted_on == self.measurement_hash else NO_MAPS

    def measured_by(
        self, seen: ModelsSeen, answers: Mapping[str, tuple[str, ...]], *, foreign: bool = False
    ) -> Current:
        """Return what holds for an output when these models answered.

        `foreign` says that it claims another generator than the policy's.
        """
        others = seen.others(self.names, answers) | (ANOTHER_GENERATOR if foreign else {})
        if others == self.others and seen is self.seen:
            return self
        return replace(self, others=others, seen=seen)

    def barred(self, answers: Mapping[str, tuple[str, ...]]) -> Mapping[str, str]:
        """Return the roles whose models have not passed their canaries, and why (G3).

        `answers` are the ids of this decision; what was not asked is taken for the latest seen.
        """
        return barred_roles(self.policy, self.seen.latest, answers, self.standings)

    def threshold(self, stakes: Stakes, now: datetime) -> Threshold:
        """Return the threshold that holds for these stakes, or say why there is none.

        A certificate, and a hypothesis that was stated before, say nothing about other models.
        """
        policy = self.policy
        if policy.hypothesis is not None and not self._is_stated_for_these(policy.hypothesis):
            policy = replace(policy, hypothesis=None)
        found = threshold_now(
            policy,
            self.certificate,
            measurement_hash=self.measurement_hash,
            stakes=stakes,
            now=now,
        )
        if found.absent == "measurement_changed" and self._was_certified_alike():
            foreign = self.others.keys() >= ANOTHER_GENERATOR.keys()
            return replace(found, absent="another_generator" if foreign else "model_changed")
        return found

    def _is_stated_for_these(self, hypothesis: Hypothesis) -> bool:
        """Tell whether the hypothesis is younger than the last change of a model."""
        if not self.others:
            return True
        settled = self.others == self.seen.others(self.names, {})
        changed = self.seen.last_change(self.others)
        begins = hypothesis.starts
        return settled and changed is not None and begins is not None and changed < begins

    def _was_certified_alike(self) -> bool:
        """Tell whether the certificate differs in the models that answered, not in the policy."""
        if self.certified_base is not None:
            return self.certified_base == self.base_measurement
        return bool(self.others)


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """What holds for one slice: for the drawn share of its decisions `staged`, else `full`."""

    full: Current
    staged: Current | None = None
    share: float = 0.0

    def at(self, secret: bytes, sample_key: str) -> Current:
        """Return what holds for the content of this key: the same on every submission."""
        if self.staged is None or not is_sampled(secret, Purpose.STAGE, sample_key, self.share):
            return self.full
        return self.staged


class Currents:
    """Answers what holds for a slice; reads the store again only after an activation."""

    def __init__(self, *, policies: PolicyBook, registry: Registry, workspace: str) -> None:
        self._policies = policies
        self._registry = registry
        self._workspace = workspace
        self._mark: int | None = None
        self._slices: dict[str, InForce] = {}

    async def at(
        self, slice_key: str, activation_mark: int, *, secret: bytes, sample_key: str
    ) -> Current:
        """Return what holds in a slice for the content of `sample_key`.

        Raises UnknownSlice, naming those there are.
        """
        return (await self._in_force(slice_key, activation_mark)).at(secret, sample_key)

    async def latest(self, slice_key: str) -> Current:
        """Return what holds by the store's newest activation, for all that is not staged."""
        return (await self._in_force(slice_key, await self._registry.activation_mark())).full

    async def all_latest(self, slice_key: str) -> Sequence[Current]:
        """Return all that holds by the store's newest activation, each for its share."""
        found = await self._in_force(slice_key, await self._registry.activation_mark())
        return (found.full,) if found.staged is None else (found.full, found.staged)

    async def stored(self, policy_hash: str) -> Policy:
        """Return a policy of before. Raises NotFound, PolicyError."""
        return await self._policies.stored(policy_hash)

    async def _in_force(self, slice_key: str, activation_mark: int) -> InForce:
        if activation_mark != self._mark:
            self._slices = await self._load(activation_mark)
            self._mark = activation_mark
        found = self._slices.get(slice_key)
        if found is None:
            known = ", ".join(sorted(self._slices)) or "none"
            raise UnknownSlice(
                f"the policy has no slice {slice_key!r} (it has: {known})", field="slice_key"
            )
        return found

    async def _load(self, activation_mark: int) -> dict[str, InForce]:
        policy: Policy = await self._policies.current(activation_mark)
        seen = await models_seen(self._registry, self._workspace)
        standings = await canary_standings(self._registry, self._workspace)
        held = await holding(self._registry, self._workspace)
        # A damaged calibration certifies nothing; people decide until another is activated.
        full = await self._prepared(policy, seen, held.full) or self._wired(policy, seen, {})
        # One that cannot be read is not drawn for either: the earlier one holds for all.
        staged = (
            None if held.staged is None else await self._prepared(policy, seen, held.staged.subject)
        )
        if held.staged is None or staged is None:
            return {
                key: InForce(full=replace(current, standings=standings))
                for key, current in full.items()
            }
        return {
            key: InForce(
                full=replace(current, standings=standings),
                staged=replace(staged[key], standings=standings),
                share=held.staged.share,
            )
            for key, current in full.items()
        }

    async def _prepared(
        self, policy: Policy, seen: ModelsSeen, subject: str | None
    ) -> dict[str, Current] | None:
        """Return what holds under a calibration, None if there is none that can be read."""
        try:
            stored = await stored_calibration(self._registry, self._workspace, subject)
            return self._wired(policy, seen, stored) if stored else None
        except (AttributeError, InvalidInput, KeyError, TypeError, ValueError):
            return None

    def _wired(
        self, policy: Policy, seen: ModelsSeen, calibration: Mapping[str, Any]
    ) -> dict[str, Current]:
        certificates = certificates_of(calibration, self._workspace)
        return {
            key: current_of(policy, key, certificates.get(key), calibration, seen)
            for key in policy.slices
        }


def current_of(
    policy: Policy,
    key: str,
    certificate: Certificate | None,
    calibration: Mapping[str, Any],
    seen: ModelsSeen,
) -> Current:
    """Return what holds for a slice under a calibration as it is stored."""
    slice_policy = policy.slices[key]
    names = second_models(slice_policy)
    fitted_on, fitted = fitted_maps(calibration, key)
    return Current(
        policy=slice_policy,
        certificate=certificate,
        action_classes=policy.action_classes,
        policy_hash=policy.hash,
        base_measurement=(policy.base_measurements or policy.measurement_hashes)[key],
        others=seen.others(names, {}),
        certified_base=calibration.get("base_measurements", {}).get(key),
        fitted=fitted,
        fitted_on=fitted_on,
        names=names,
        seen=seen,
    )
