"""Incidents on their table."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, literal_column, or_, select, update

from sureline.adapters.storage.database import Database
from sureline.adapters.storage.incident_rows import COLUMNS, incident_of, incidents
from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.registry import chain_activation
from sureline.adapters.storage.statement import LISTED, compiled, json_list
from sureline.adapters.storage.transaction import COMMON_STREAM, Transaction
from sureline.application.ports.incidents import CLOSED
from sureline.application.ports.registry import Activation
from sureline.core.values.incident import Incident
from sureline.errors import Conflict, NotFound

_LIST = compiled(
    select(*COLUMNS)
    .where(
        incidents.c.workspace == bindparam("workspace"),
        or_(bindparam("every") == literal_column("1"), incidents.c.closed_at.is_(None)),
        or_(bindparam("any_slice") == literal_column("1"), incidents.c.slice_key.in_(LISTED)),
    )
    .order_by(incidents.c.opened_mark.desc())
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_ONE = compiled(
    select(*COLUMNS).where(
        incidents.c.workspace == bindparam("workspace"), incidents.c.id == bindparam("id")
    )
)
_CLOSE = compiled(
    update(incidents)
    .values(
        closed_mark=bindparam("mark_"),
        closed_at=bindparam("at_"),
        closed_by=bindparam("by_"),
        note=bindparam("note_"),
    )
    .where(incidents.c.workspace == bindparam("workspace_"), incidents.c.id == bindparam("id_"))
)


class SqlIncidents:
    """Keeps incidents; see the port `IncidentStore` for the contract."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(
        self,
        workspace: str,
        *,
        only_open: bool,
        slices: Sequence[str],
        limit: int,
        offset: int = 0,
    ) -> Sequence[Incident]:
        """Return incidents, the newest first; read off the loop."""
        wanted = (workspace, int(not only_open), int(not slices), json_list(slices), limit, offset)

        def read() -> list[Any]:
            with self._database.reader() as fetch:
                return fetch(_LIST, wanted)

        return [incident_of(row) for row in await asyncio.to_thread(read)]

    async def get(self, workspace: str, incident_id: str) -> Incident | None:
        """Return an incident, or None."""
        rows = await self._database.read(_ONE, (workspace, incident_id))
        return incident_of(rows[0]) if rows else None

    async def close(
        self, workspace: str, incident_id: str, *, by: str, note: str, at: datetime
    ) -> Incident:
        """Close an incident, once; the write lock makes it atomic."""
        closing = Activation(
            workspace=workspace, kind=CLOSED, subject=incident_id, by=by, at=at, note=note
        )

        def write(transaction: Transaction) -> Incident:
            row = transaction.first(_ONE, (workspace, incident_id))
            if row is None:
                raise NotFound(f"there is no incident {incident_id!r}")
            before = incident_of(row)
            if not before.is_open:
                raise Conflict(f"this incident was closed before, by {before.closed_by}")
            chain_activation(transaction, closing)
            change = (
                transaction.head(COMMON_STREAM).seq,
                to_micros(at),
                by,
                note,
                workspace,
                incident_id,
            )
            transaction.run(_CLOSE, change)
            closed = transaction.first(_ONE, (workspace, incident_id))
            assert closed is not None
            return incident_of(closed)

        return await self._database.write(write)
