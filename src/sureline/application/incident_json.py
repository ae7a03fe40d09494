"""Incidents as JSON values, the same for the command line and over HTTP."""

from __future__ import annotations

from typing import Any

from sureline.core.values.incident import Incident


def incident_json(one: Incident) -> dict[str, Any]:
    """Return an incident as JSON values; moments as ISO 8601."""
    return {
        "id": one.id,
        "decision_id": one.decision_id,
        "slice_key": one.slice_key,
        "source": one.source.value,
        "opened_at": one.opened_at.isoformat(),
        "certificate": one.certificate,
        "policy": one.policy,
        "models": list(one.models),
        "stands": one.stands,
        "closed_at": None if one.closed_at is None else one.closed_at.isoformat(),
        "closed_by": one.closed_by,
        "note": one.note,
    }
