"""The review queue on its table; a step and its outcomes are one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, func, literal_column, or_, select

from sureline.adapters.storage.moments import from_micros, to_micros
from sureline.adapters.storage.queued import PUT_REVIEW
from sureline.adapters.storage.record_outcome import RecordOutcome
from sureline.adapters.storage.review_rows import COLUMNS, review_of, reviews, row_of
from sureline.adapters.storage.sqlite_database import SqliteDatabase
from sureline.adapters.storage.statement import LISTED, compiled, json_list
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.reviews import QueueCount, Step, Wanted
from sureline.core.values.review import Review, ReviewKind, ReviewState
from sureline.errors import NotFound

_ONE = compiled(
    select(*COLUMNS).where(
        reviews.c.workspace == bindparam("workspace"), reviews.c.id == bindparam("id")
    )
)
ORDER = (
    reviews.c.level.desc(),
    reviews.c.rank.desc(),
    reviews.c.deadline,
    reviews.c.uncertainty.desc(),
    reviews.c.id,
)
"""Higher up first, then stakes, then deadline, then uncertainty.

An item that nobody takes goes a step up at its deadline and then comes before all others, so
that none waits for ever.
"""
_AMONG = and_(
    reviews.c.workspace == bindparam("workspace"),
    or_(bindparam("any_slice") == literal_column("1"), reviews.c.slice_key.in_(LISTED)),
    or_(bindparam("kind") == literal_column("''"), reviews.c.kind == bindparam("same_kind")),
)
_OPEN = select(*COLUMNS).where(_AMONG, reviews.c.open == literal_column("1")).order_by(*ORDER)
_OPEN_PAGE = compiled(_OPEN.limit(bindparam("limit")).offset(bindparam("offset")))
_OVER_PAGE = compiled(
    select(*COLUMNS)
    .where(_AMONG, reviews.c.open == literal_column("0"))
    .order_by(reviews.c.opened_at.desc(), reviews.c.id)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_FREE = compiled(
    _OPEN.where(
        or_(reviews.c.lease_until.is_(None), reviews.c.lease_until <= bindparam("now")),
        or_(reviews.c.submitted_by.is_(None), reviews.c.submitted_by != bindparam("by")),
    )
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_DUE = compiled(
    select(reviews.c.id)
    .where(reviews.c.workspace == bindparam("workspace"), reviews.c.due_at <= bindparam("now"))
    .order_by(reviews.c.due_at)
    .limit(bindparam("limit"))
    .offset(literal_column("0"))
)
_COUNTS = compiled(
    select(
        reviews.c.slice_key,
        reviews.c.kind,
        reviews.c.state,
        func.count(),
        func.min(reviews.c.opened_at),
    )
    .where(reviews.c.workspace == bindparam("workspace"))
    .group_by(reviews.c.slice_key, reviews.c.kind, reviews.c.state)
    .order_by(reviews.c.slice_key, reviews.c.kind, reviews.c.state)
)


class SqlReviews:
    """Keeps the queue; see the port `ReviewStore` for the contract."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def get(self, workspace: str, review_id: str) -> Review | None:
        """Return an item, or None."""
        rows = self._database.fetch(_ONE, (workspace, review_id))
        return review_of(rows[0]) if rows else None

    async def list(
        self, workspace: str, wanted: Wanted, *, limit: int, offset: int = 0
    ) -> Sequence[Review]:
        """Return items in the order in which they are to be worked on; read off the loop."""

        def read() -> list[Review]:
            with self._database.reader() as fetch:
                page = _OPEN_PAGE if wanted.is_open else _OVER_PAGE
                rows = fetch(page, (*_among(workspace, wanted), limit, offset))
                return [review_of(row) for row in rows]

        return await asyncio.to_thread(read)

    async def counts(self, workspace: str) -> Sequence[QueueCount]:
        """Return how long the queue is; read off the loop."""

        def read() -> list[Any]:
            with self._database.reader() as fetch:
                return fetch(_COUNTS, (workspace,))

        return [
            QueueCount(
                slice_key=key,
                kind=ReviewKind(kind),
                state=ReviewState(state),
                count=count,
                oldest=from_micros(oldest),
            )
            for key, kind, state, count, oldest in await asyncio.to_thread(read)
        ]

    async def change(self, workspace: str, review_id: str, step: Step) -> Review:
        """Do a step; the write lock makes it atomic."""

        def write(transaction: Transaction) -> Review:
            row = transaction.first(_ONE, (workspace, review_id))
            if row is None:
                raise NotFound(f"there is no review {review_id!r}")
            return do_step(transaction, review_of(row), step)

        return await self._database.write(write)

    async def claim_next(
        self, workspace: str, wanted: Wanted, step: Step, *, by: str, now: datetime
    ) -> Review | None:
        """Do a step with the first item that is free; the write lock makes it atomic."""
        among = _among(workspace, wanted)

        def write(transaction: Transaction) -> Review | None:
            offset = 0
            while True:
                free = (*among, to_micros(now), wanted.not_by or by, _PAGE, offset)
                rows = transaction.all(_FREE, free)
                for item in map(review_of, rows):
                    if by not in (*item.skipped_by, *item.approvals):
                        return do_step(transaction, item, step)
                if len(rows) < _PAGE:
                    return None
                offset += _PAGE

        return await self._database.write(write)

    async def due(self, workspace: str, now: datetime, *, limit: int) -> Sequence[str]:
        """Return items that time has changed."""
        return [row[0] for row in self._database.fetch(_DUE, (workspace, to_micros(now), limit))]


_PAGE = 50
"""How many free items are looked at together: a reviewer has skipped or approved few of them."""


def do_step(transaction: Transaction, item: Review, step: Step) -> Review:
    """Do a step and write what it says."""
    changed = step(item)
    if changed.item != item:
        transaction.run(PUT_REVIEW, row_of(changed.item))
    for outcome in changed.outcomes:
        RecordOutcome(outcome)(transaction)
    return changed.item


def _among(workspace: str, wanted: Wanted) -> tuple[Any, ...]:
    """Return the parameters of `_AMONG`; several kinds are all kinds."""
    kind = wanted.kinds[0].value if len(wanted.kinds) == 1 else ""
    return workspace, int(not wanted.slices), json_list(wanted.slices), kind, kind
