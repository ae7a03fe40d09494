"""What holds now: the active policy and the certificates of the active calibration."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sureline.application.policies import PolicyBook
from sureline.application.ports.registry import Registry
from sureline.core.values.certificate import Certificate, ErrorRate, Scale
from sureline.core.values.policy import ActionClass, Policy, SlicePolicy
from sureline.errors import UnknownSlice

CALIBRATION = "calibration"


@dataclass(frozen=True, slots=True, kw_only=True)
class Current:
    """The policy, certificate and hashes that hold for one slice now."""

    policy: SlicePolicy
    certificate: Certificate | None
    action_classes: Mapping[str, ActionClass]
    policy_hash: str
    measurement_hash: str


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
        certificates = await active_certificates(self._registry, self._workspace)
        return {
            key: Current(
                policy=slice_policy,
                certificate=certificates.get(key),
                action_classes=policy.action_classes,
                policy_hash=policy.hash,
                measurement_hash=policy.measurement_hashes[key],
            )
            for key, slice_policy in policy.slices.items()
        }


async def active_certificates(registry: Registry, workspace: str) -> dict[str, Certificate]:
    """Return the certificates of the workspace's active calibration by slice."""
    activation = await registry.active(workspace, CALIBRATION)
    if activation is None:
        return {}
    body = await registry.calibration(activation.subject)
    if body is None:
        return {}
    entries = map(certificate_from_json, json.loads(body)["certificates"])
    return {one.slice_key: one for one in entries if one.workspace == workspace}


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
