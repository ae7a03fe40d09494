"""What holds now: the active policy and the certificates of the active calibration."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sureline.application.policies import PolicyBook
from sureline.application.ports.registry import Registry
from sureline.core.gate.calibrating import NO_MAPS, SliceMaps
from sureline.core.values.certificate import Certificate, ErrorRate, Scale
from sureline.core.values.policy import ActionClass, Policy, SlicePolicy
from sureline.errors import InvalidInput, UnknownSlice

CALIBRATION = "calibration"


@dataclass(frozen=True, slots=True, kw_only=True)
class Current:
    """The policy, certificate and hashes that hold for one slice now."""

    policy: SlicePolicy
    certificate: Certificate | None
    action_classes: Mapping[str, ActionClass]
    policy_hash: str
    measurement_hash: str
    maps: SliceMaps = NO_MAPS


class Currents:
    """Answers what holds for a slice; reads the store again only after an activation."""

    def __init__(self, *, policies: PolicyBook, registry: Registry, workspace: str) -> None:
        self._policies = policies
        self._registry = registry
        self._workspace = workspace
        self._mark: int | None = None
        self._slices: dict[str, Current] = {}

    async def at(self, slice_key: str, activation_mark: int) -> Current:
        """Return what holds for `slice_key`. Raises UnknownSlice, naming those there are."""
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

    async def latest(self, slice_key: str) -> Current:
        """Return what holds for `slice_key` by the store's newest activation."""
        return await self.at(slice_key, await self._registry.activation_mark())

    async def _load(self, activation_mark: int) -> dict[str, Current]:
        policy: Policy = await self._policies.current(activation_mark)
        calibration = await active_calibration(self._registry, self._workspace)
        try:
            return self._wired(policy, calibration)
        except (InvalidInput, KeyError, TypeError, ValueError):
            # A damaged calibration certifies nothing; people decide until another is activated.
            return self._wired(policy, {})

    def _wired(self, policy: Policy, calibration: Mapping[str, Any]) -> dict[str, Current]:
        certificates = certificates_of(calibration, self._workspace)
        return {
            key: Current(
                policy=slice_policy,
                certificate=certificates.get(key),
                action_classes=policy.action_classes,
                policy_hash=policy.hash,
                measurement_hash=policy.measurement_hashes[key],
                maps=maps_of(calibration, key, policy.measurement_hashes[key]),
            )
            for key, slice_policy in policy.slices.items()
        }


async def active_calibration(registry: Registry, workspace: str) -> dict[str, Any]:
    """Return the workspace's active calibration as stored, or an empty one."""
    activation = await registry.active(workspace, CALIBRATION)
    body = None if activation is None else await registry.calibration(activation.subject)
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
