"""What holds now: the active policy and the certificates of the active calibration."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sureline.application.holding import CALIBRATION as CALIBRATION
from sureline.application.holding import holding
from sureline.application.models_seen import models_seen
from sureline.application.policies import PolicyBook
from sureline.application.ports.registry import Registry
from sureline.core.gate.answered import ModelsSeen, measurement_with
from sureline.core.gate.calibrating import NO_MAPS, SliceMaps
from sureline.core.gate.sampling import Purpose, is_sampled
from sureline.core.values.certificate import Certificate, ErrorRate, Scale
from sureline.core.values.policy import ActionClass, Policy, SlicePolicy
from sureline.errors import InvalidInput, UnknownSlice


@dataclass(frozen=True, slots=True, kw_only=True)
class Current:
    """The policy, certificate and hashes that hold for one slice now.

    `measurement_hash` is that of the models which answer now; `base_measurement` is the policy's.
    """

    policy: SlicePolicy
    certificate: Certificate | None
    action_classes: Mapping[str, ActionClass]
    policy_hash: str
    measurement_hash: str
    base_measurement: str
    maps: SliceMaps = NO_MAPS
    seen: ModelsSeen = field(default_factory=ModelsSeen)

    @property
    def models_changed(self) -> bool:
        """Tell whether another model answers than the first that did."""
        return self.measurement_hash != self.base_measurement

    def measured_by(self, answers: Mapping[str, str]) -> Current:
        """Return what holds when these models answered: maps of others say nothing."""
        others = self.seen.others(self.policy, answers)
        measurement = measurement_with(self.base_measurement, others)
        if measurement == self.measurement_hash:
            return self
        return replace(self, measurement_hash=measurement, maps=NO_MAPS)


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
        held = await holding(self._registry, self._workspace)
        # A damaged calibration certifies nothing; people decide until another is activated.
        full = await self._prepared(policy, seen, held.full) or self._wired(policy, seen, {})
        # One that cannot be read is not drawn for either: the earlier one holds for all.
        staged = (
            None if held.staged is None else await self._prepared(policy, seen, held.staged.subject)
        )
        if held.staged is None or staged is None:
            return {key: InForce(full=current) for key, current in full.items()}
        return {
            key: InForce(full=current, staged=staged[key], share=held.staged.share)
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
            key: Current(
                policy=slice_policy,
                certificate=certificates.get(key),
                action_classes=policy.action_classes,
                policy_hash=policy.hash,
                measurement_hash=policy.measurement_hashes[key],
                maps=maps_of(calibration, key, policy.measurement_hashes[key]),
                base_measurement=policy.base_measurements[key],
                seen=seen,
            )
            for key, slice_policy in policy.slices.items()
        }


async def active_calibration(registry: Registry, workspace: str) -> dict[str, Any]:
    """Return the active calibration as stored, or an empty one: of a staged one, the earlier."""
    held = await holding(registry, workspace)
    return await stored_calibration(registry, workspace, held.full)


async def stored_calibration(
    registry: Registry, workspace: str, calibration_id: str | None
) -> dict[str, Any]:
    """Return one of the workspace's calibrations as stored, or an empty one."""
    body = None if calibration_id is None else await registry.calibration(calibration_id)
    found: dict[str, Any] = {} if body is None else json.loads(body)
    return found if found.get("workspace") == workspace else {}


async def active_certificates(registry: Registry, workspace: str) -> dict[str, Certificate]:
    """Return the certificates of the workspace's active calibration by slice."""
    return certificates_of(await active_calibration(registry, workspace), workspace)


def certificates_of(calibration: Mapping[str, Any], workspace: str) -> dict[str, Certificate]:
    """Return a calibration's certificates by slice."""
    entries = map(certificate_from_json, calibration.get("certificates", ()))
    return {one.slice_key: one for one in entries if one.workspace == workspace}


def maps_of(calibration: Mapping[str, Any], slice_key: str, measurement_hash: str) -> SliceMaps:
    """Return a slice's maps as tables; none where it is measured otherwise now."""
    entry = calibration.get("maps", {}).get(slice_key)
    if entry is None or entry["measurement_hash"] != measurement_hash:
        return NO_MAPS
    # Imported here: a gate without a calibration needs none of the arithmetic behind it.
    from sureline.core.learning.calibrate import JUDGED, UNJUDGED, table_of
    from sureline.core.statistics.calibration import Unfitted
    from sureline.core.statistics.map_json import map_from_json

    read = {name: map_from_json(one) for name, one in entry["strata"].items()}
    fitted = {name: one for name, one in read.items() if not isinstance(one, Unfitted)}
    tables = {name: table_of(one) for name, one in fitted.items()}
    ranges = {name: (one.low, one.high) for name, one in fitted.items()}
    return SliceMaps(
        unjudged=tables.get(UNJUDGED),
        judged=tables.get(JUDGED),
        unjudged_range=ranges.get(UNJUDGED, (0.0, 1.0)),
        judged_range=ranges.get(JUDGED, (0.0, 1.0)),
    )


def certificate_from_json(entry: dict[str, Any]) -> Certificate:
    """Read a certificate as a calibration stores it."""
    return Certificate(
        **{
            **entry,
            "error_rate": ErrorRate(entry["error_rate"]),
            "scale": Scale(entry.get("scale", Scale.COMPOSITE)),
            "issued_at": datetime.fromisoformat(entry["issued_at"]),
        }
    )
