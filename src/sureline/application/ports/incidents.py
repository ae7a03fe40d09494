"""Incidents as they are kept."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from sureline.core.values.incident import Incident

CLOSED = "incident"
"""The kind of an activation that closes an incident: its note says why."""


class IncidentStore(Protocol):
    """Keeps incidents, which come in with the answers that open them."""

    async def list(
        self,
        workspace: str,
        *,
        only_open: bool,
        slices: Sequence[str],
        limit: int,
        offset: int = 0,
    ) -> Sequence[Incident]:
        """Return incidents, the newest first; of all slices where none is named."""

    async def get(self, workspace: str, incident_id: str) -> Incident | None:
        """Return an incident, or None."""

    async def close(
        self, workspace: str, incident_id: str, *, by: str, note: str, at: datetime
    ) -> Incident:
        """Close an incident, in the ledger. Raises NotFound, and Conflict where it is closed."""
