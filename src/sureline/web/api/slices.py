"""What each slice may do now, and on what proof."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sureline.application.current import Current
from sureline.application.ports.keys import ApiKey
from sureline.bootstrap import Services
from sureline.core.gate.thresholds import Threshold
from sureline.errors import PolicyError
from sureline.web.access import may_see
from sureline.web.api.shapes import SlicesShape
from sureline.web.faults import NotReady
from sureline.web.operation import ALL_ROLES, Answer, Call, Operation
from sureline.web.reply import Reply


async def show(call: Call) -> Reply:
    """Return the slices that the key may see."""
    try:
        found = await slices_seen(call.context.services, call.key)
    except PolicyError as error:
        raise NotReady("no policy can be used here") from error
    return Reply.json({"slices": found})


async def slices_seen(services: Services, holder: ApiKey) -> list[dict[str, Any]]:
    """Return the slices that a key may see, as JSON values. Raises PolicyError."""
    workspace = holder.workspace
    policy = await services.policies.latest()
    seen = [key for key in sorted(policy.slices) if may_see(holder, key)]
    missing = await _missing(services, workspace)
    routes = await services.ledger.route_counts(workspace)
    found = []
    for key in seen:
        current = await services.currents.latest(key)
        found.append(_slice_json(services, current, missing.get(key), routes.get(key, {})))
    return found


async def _missing(services: Services, workspace: str) -> Mapping[str, dict[str, Any]]:
    """Return by slice what the newest calibration says is missing."""
    stored = await services.registry.calibrations(workspace)
    body = await services.registry.calibration(stored[0]["id"]) if stored else None
    if body is None:
        return {}
    return {entry["slice_key"]: entry for entry in json.loads(body)["uncertified"]}


def _slice_json(
    services: Services,
    current: Current,
    missing: dict[str, Any] | None,
    routes: Mapping[str, int],
) -> dict[str, Any]:
    policy, certificate = current.policy, current.certificate
    threshold = current.threshold(policy.stakes, services.clock.now())
    shown = None
    if certificate is not None and threshold.absent is None:
        shown = {**asdict(certificate), "issued_at": certificate.issued_at.isoformat()}
    return {
        "slice_key": policy.key,
        "mode": policy.mode,
        "policy": current.policy_hash,
        "measurement": current.measurement_hash,
        "target_precision": policy.target_precision,
        "delta": policy.delta,
        "threshold": threshold.auto,
        "uncertified": threshold.uncertified,
        "certificate": shown,
        "missing": None if shown is not None else _missing_json(threshold, missing),
        "routes": dict(routes),
    }


def _missing_json(threshold: Threshold, missing: dict[str, Any] | None) -> dict[str, Any]:
    """Say why no certificate holds: what the labels lack, or why one that there is does not."""
    if threshold.absent not in {None, "none"}:
        return _reason(str(threshold.absent), "There is a certificate, but it does not hold.")
    if missing is None:
        return _reason("not_activated", "No certificate for this slice is active.")
    return {
        "reason": missing["reason"],
        "message": missing["message"],
        "n": missing["n"],
        "labels_missing": missing["labels_missing"],
        "best_lower_bound": missing["best_lower_bound"],
        "labels_excluded": missing.get("labels_excluded", 0),
    }


def _reason(code: str, message: str) -> dict[str, Any]:
    return {
        "reason": code,
        "message": message,
        "n": None,
        "labels_missing": None,
        "best_lower_bound": None,
        "labels_excluded": None,
    }


OPERATIONS = (
    Operation(
        method="GET",
        path="/v1/slices",
        name="listSlices",
        about="Return each slice with its mode and its certificate, or what is missing for one.",
        run=show,
        roles=ALL_ROLES,
        answers={200: Answer("The slices that the key may see.", SlicesShape)},
    ),
)
