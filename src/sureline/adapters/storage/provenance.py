"""Looks up where a decision stands in the chain, and a slice's latest decisions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from sqlalchemy import and_, bindparam, literal_column, select

from sureline.adapters.storage.count_tables import labels
from sureline.adapters.storage.database import Database
from sureline.adapters.storage.moments import from_micros, moment_or_none
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import consumptions, decisions, heads
from sureline.application.ports.provenance import LatestDecision, LedgerPlace

LOOKED_AT = 20_000
"""Rows of each stream of the ledger among which the latest decisions are looked for."""

_PLACE = compiled(
    select(decisions.c.seq, decisions.c.hash, consumptions.c.consumed_at)
    .select_from(
        decisions.outerjoin(
            consumptions,
            and_(
                consumptions.c.workspace == decisions.c.workspace,
                consumptions.c.decision_id == decisions.c.id,
            ),
        )
    )
    .where(decisions.c.workspace == bindparam("workspace"), decisions.c.id == bindparam("id"))
)
_HEADS = compiled(select(heads.c.stream, heads.c.seq))
_LATEST = compiled(
    select(
        decisions.c.id,
        decisions.c.slice_key,
        decisions.c.route,
        decisions.c.would_route,
        decisions.c.score,
        decisions.c.created_at,
        labels.c.correct,
    )
    .select_from(
        decisions.outerjoin(
            labels,
            and_(
                labels.c.workspace == decisions.c.workspace,
                labels.c.decision_id == decisions.c.id,
            ),
        )
    )
    .where(decisions.c.stream == bindparam("stream"), decisions.c.seq > bindparam("after"))
    # Not the bare column: its index would find the whole workspace anew and sort it.
    .where(decisions.c.workspace.concat(literal_column("''")) == bindparam("workspace"))
    .where(decisions.c.slice_key == bindparam("slice_key"))
    .order_by(decisions.c.seq.desc())
    .limit(bindparam("limit"))
    .offset(literal_column("0"))
)


class SqlProvenance:
    """The port `Provenance` on the store's tables."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def place(self, workspace: str, decision_id: str) -> LedgerPlace | None:
        """Return where a decision stands, or None."""
        rows = await self._database.read(_PLACE, (workspace, decision_id))
        if not rows:
            return None
        seq, digest, used = rows[0]
        return LedgerPlace(seq=seq, hash=digest, consumed_at=moment_or_none(used))

    async def latest(
        self, workspace: str, slice_key: str, *, limit: int
    ) -> Sequence[LatestDecision]:
        """Return a slice's latest decisions, newest first, off the caller's thread."""
        return await asyncio.to_thread(self._latest, workspace, slice_key, limit)

    def _latest(self, workspace: str, slice_key: str, limit: int) -> list[LatestDecision]:
        with self._database.reader() as fetch:
            rows = [
                row
                for stream, end in fetch(_HEADS, ())
                for row in fetch(_LATEST, (stream, end - LOOKED_AT, workspace, slice_key, limit))
            ]
        return [
            LatestDecision(
                id=row[0],
                slice_key=row[1],
                route=row[2],
                would_route=row[3],
                score=row[4],
                created_at=from_micros(row[5]),
                correct=None if row[6] is None else bool(row[6]),
            )
            for row in sorted(rows, key=lambda row: row[5], reverse=True)[:limit]
        ]
