"""Read calibrations back as they are stored: certificates and maps."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sureline.application.holding import holding
from sureline.application.ports.registry import Registry
from sureline.core.gate.calibrating import NO_MAPS, SliceMaps
from sureline.core.values.certificate import Certificate, ErrorRate, MissedErrors, Scale


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
    fitted_on, fitted = fitted_maps(calibration, slice_key)
    return fitted if fitted_on == measurement_hash else NO_MAPS


def fitted_maps(calibration: Mapping[str, Any], slice_key: str) -> tuple[str | None, SliceMaps]:
    """Return the measurement that a slice's maps are for, and the maps as tables."""
    entry = calibration.get("maps", {}).get(slice_key)
    if entry is None:
        return None, NO_MAPS
    # Imported here: a gate without a calibration needs none of the arithmetic behind it.
    from sureline.core.learning.calibrate import JUDGED, UNJUDGED, table_of
    from sureline.core.statistics.calibration import Unfitted
    from sureline.core.statistics.map_json import map_from_json

    read = {name: map_from_json(one) for name, one in entry["strata"].items()}
    fitted = {name: one for name, one in read.items() if not isinstance(one, Unfitted)}
    tables = {name: table_of(one) for name, one in fitted.items()}
    ranges = {name: (one.low, one.high) for name, one in fitted.items()}
    return entry["measurement_hash"], SliceMaps(
        unjudged=tables.get(UNJUDGED),
        judged=tables.get(JUDGED),
        unjudged_range=ranges.get(UNJUDGED, (0.0, 1.0)),
        judged_range=ranges.get(JUDGED, (0.0, 1.0)),
    )


def certificate_from_json(entry: dict[str, Any]) -> Certificate:
    """Read a certificate as a calibration stores it."""
    missed = entry.get("missed_errors")
    return Certificate(
        **{
            **entry,
            "error_rate": ErrorRate(entry["error_rate"]),
            "scale": Scale(entry.get("scale", Scale.COMPOSITE)),
            "issued_at": datetime.fromisoformat(entry["issued_at"]),
            "missed_errors": None if missed is None else MissedErrors(**missed),
        }
    )
