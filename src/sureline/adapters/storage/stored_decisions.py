"""Reads decisions back from their tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Select, and_, bindparam, select

from sureline.adapters.storage.moments import from_micros
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import decisions, payloads
from sureline.application.ports.ledger import StoredDecision

_COLUMNS = (
    decisions.c.id,
    decisions.c.workspace,
    decisions.c.slice_key,
    decisions.c.route,
    decisions.c.mode,
    decisions.c.score,
    decisions.c.measurement_hash,
    decisions.c.content_digest,
    decisions.c.created_at,
    decisions.c.body,
    payloads.c.answer,
    payloads.c.request,
    decisions.c.submitted_by,
)


def _stored() -> Select[Any]:
    return select(*_COLUMNS).select_from(
        decisions.outerjoin(
            payloads,
            and_(payloads.c.stream == decisions.c.stream, payloads.c.seq == decisions.c.seq),
        )
    )


BY_ID = compiled(
    _stored().where(
        decisions.c.workspace == bindparam("workspace"), decisions.c.id == bindparam("id")
    )
)
"""One decision by (workspace, id)."""


def stored_decision(row: Sequence[Any], *, created: bool = False) -> StoredDecision:
    """Build the value from a row of `BY_ID`."""
    return StoredDecision(
        id=row[0],
        workspace=row[1],
        slice_key=row[2],
        route=row[3],
        mode=row[4],
        score=row[5],
        measurement_hash=row[6],
        content_digest=row[7],
        created_at=from_micros(row[8]),
        body=row[9],
        answer=row[10],
        request=row[11],
        submitted_by=row[12],
        created=created,
    )
