"""Finds payloads that are past their time, what holds them, and erases the others."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, exists, literal_column, select

from sureline.adapters.storage.database import Database, Fetch
from sureline.adapters.storage.erase_payload import ErasePayload
from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.retention_holds import held
from sureline.adapters.storage.statement import Statement, compiled
from sureline.adapters.storage.tables import decisions, heads, outcomes, payloads
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.erasures import DuePage, Hold, PastDue

PAGE = 1_000
"""Payloads that are looked at in one reading."""

_STREAMS = compiled(select(heads.c.stream).order_by(heads.c.stream))
_OWN = payloads.alias("own")
_COLUMNS = (payloads.c.seq, decisions.c.id, decisions.c.slice_key, decisions.c.created_at)


def _walk(source: Any, *conditions: Any) -> Statement:
    """Return the reading of a stream's payloads in the order of their places."""
    return compiled(
        select(*_COLUMNS)
        .select_from(source)
        .where(
            payloads.c.stream == bindparam("stream"),
            payloads.c.seq > bindparam("after"),
            # Not the bare column: its index would find the whole workspace anew and sort it.
            payloads.c.workspace.concat(literal_column("''")) == bindparam("workspace"),
            *conditions,
        )
        .order_by(payloads.c.seq)
        .limit(bindparam("limit"))
        .offset(literal_column("0"))
    )


_WALKS = {
    "decision": _walk(
        payloads.join(
            decisions,
            and_(decisions.c.stream == payloads.c.stream, decisions.c.seq == payloads.c.seq),
        )
    ),
    "comment": _walk(
        payloads.join(
            outcomes,
            and_(outcomes.c.stream == payloads.c.stream, outcomes.c.seq == payloads.c.seq),
        ).join(
            decisions,
            and_(
                decisions.c.workspace == outcomes.c.workspace,
                decisions.c.id == outcomes.c.decision_id,
            ),
        ),
        ~exists(
            select(literal_column("1"))
            .select_from(_OWN)
            .where(_OWN.c.stream == decisions.c.stream, _OWN.c.seq == decisions.c.seq)
            .correlate(decisions)
        ),
    ),
}
"""What decisions quote, and what was said of them after they were erased."""


async def past_due(
    database: Database, workspace: str, before: Mapping[str, datetime], after: str | None
) -> DuePage:
    """Return the next page of what is past its time; read off the loop."""

    def read() -> DuePage:
        with database.reader() as fetch:
            return _page(fetch, workspace, before, after)

    return await asyncio.to_thread(read)


def _page(
    fetch: Fetch, workspace: str, before: Mapping[str, datetime], after: str | None
) -> DuePage:
    kind, stream, place = _place(after) if after else ("decision", "", 0)
    steps = [(kind, row[0]) for kind in _WALKS for row in fetch(_STREAMS, ())]
    for step in steps[steps.index((kind, stream)) if stream else 0 :]:
        start = place if step == (kind, stream) else 0
        rows = fetch(_WALKS[step[0]], (step[1], start, workspace, PAGE))
        if rows:
            found = _found(fetch, workspace, before, rows)
            return DuePage(found=found, after=f"{step[0]}:{rows[-1][0]}:{step[1]}")
    return DuePage(found=(), after=None)


def _place(after: str) -> tuple[str, str, int]:
    kind, seq, stream = after.split(":", 2)
    return kind, stream, int(seq)


def _found(
    fetch: Fetch, workspace: str, before: Mapping[str, datetime], rows: Sequence[Any]
) -> list[PastDue]:
    limits = {key: to_micros(moment) for key, moment in before.items()}
    due = {row[1]: row[2] for row in rows if row[2] in limits and row[3] < limits[row[2]]}
    holds = held(fetch, workspace, tuple(due))
    return [
        PastDue(decision_id=one, slice_key=key, holds=tuple(sorted(holds.get(one, ()))))
        for one, key in due.items()
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseDue:
    """The job of erasing those of these decisions that nothing holds any more or again."""

    workspace: str
    ids: tuple[str, ...]
    spared: frozenset[Hold]
    by: str
    reason: str
    at: datetime

    def __call__(self, transaction: Transaction) -> int:
        """Erase them; return how many."""
        holds = held(transaction.all, self.workspace, self.ids)
        free = [one for one in self.ids if not self.spared & holds.get(one, set())]
        return sum(
            ErasePayload(self.workspace, one, self.by, self.reason, self.at)(transaction)
            for one in free
        )
