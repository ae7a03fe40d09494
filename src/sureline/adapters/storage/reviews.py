"""The review queue on its table; a step and its outcomes are one transaction."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, func, literal_column, select

from sureline.adapters.storage.database import Database
from sureline.adapters.storage.hear_outcome import HearOutcome
from sureline.adapters.storage.late_words import kept_review
from sureline.adapters.storage.moments import from_micros, to_micros
from sureline.adapters.storage.planted_step import keep_answers
from sureline.adapters.storage.queue_pages import FREE, Fetch, over_page, page, rows_of
from sureline.adapters.storage.queued import put_reviews
from sureline.adapters.storage.record_outcome import RecordOutcome
from sureline.adapters.storage.review_rows import COLUMNS, queue_counts, review_of, reviews
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.reviews import Hear, QueueCount, Step, Wanted
from sureline.core.values.outcome import Outcome
from sureline.core.values.person import same_person
from sureline.core.values.review import Review, ReviewKind, ReviewState
from sureline.errors import NotFound, StoreCorrupt

_ONE = compiled(
    select(*COLUMNS).where(
        reviews.c.workspace == bindparam("workspace"), reviews.c.id == bindparam("id")
    )
)
_DUE = compiled(
    select(reviews.c.id)
    .where(reviews.c.workspace == bindparam("workspace"), reviews.c.due_at <= bindparam("now"))
    .order_by(reviews.c.due_at)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_OLDEST = (
    select(func.min(reviews.c.opened_at))
    .where(
        reviews.c.workspace == queue_counts.c.workspace,
        reviews.c.slice_key == queue_counts.c.slice_key,
        reviews.c.kind == queue_counts.c.kind,
        reviews.c.state == queue_counts.c.state,
    )
    .correlate(queue_counts)
    .scalar_subquery()
)
_COUNTS = compiled(
    select(
        queue_counts.c.slice_key,
        queue_counts.c.kind,
        queue_counts.c.state,
        queue_counts.c.count,
        _OLDEST,
    )
    .where(
        queue_counts.c.workspace == bindparam("workspace"),
        queue_counts.c.count > literal_column("0"),
    )
    .order_by(queue_counts.c.slice_key, queue_counts.c.kind, queue_counts.c.state)
)


class SqlReviews:
    """Keeps the queue; see the port `ReviewStore` for the contract."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, workspace: str, review_id: str) -> Review | None:
        """Return an item, or None."""
        rows = await self._database.read(_ONE, (workspace, review_id))
        return review_of(rows[0]) if rows else None

    async def list(
        self, workspace: str, wanted: Wanted, *, limit: int, offset: int = 0
    ) -> Sequence[Review]:
        """Return items in the order in which they are to be worked on; read off the loop."""

        def read() -> list[Review]:
            read_page = page if wanted.is_open else over_page
            with self._database.reader() as fetch:
                rows = read_page(fetch, workspace, wanted, limit=limit, offset=offset)
            return list(readable(rows))

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

    async def hear(self, outcome: Outcome, hear: Hear) -> Outcome:
        """Write an answer from elsewhere; the write lock makes it atomic."""
        return await self._database.write(HearOutcome(outcome, hear))

    async def claim_next(
        self, workspace: str, wanted: Wanted, step: Step, *, by: str, now: datetime
    ) -> Review | None:
        """Do a step with the first item that is free; the write lock makes it atomic."""

        def write(transaction: Transaction) -> Review | None:
            while (item := first_free(transaction, workspace, wanted, by, now)) is not None:
                done = do_step(transaction, item, step)
                if done.claimed_by == by:
                    return done
            return None

        return await self._database.write(write)

    async def due(
        self, workspace: str, now: datetime, *, limit: int, offset: int = 0
    ) -> Sequence[str]:
        """Return items that time has changed."""
        rows = await self._database.read(_DUE, (workspace, to_micros(now), limit, offset))
        return [row[0] for row in rows]


def first_free(
    transaction: Transaction, workspace: str, wanted: Wanted, by: str, now: datetime
) -> Review | None:
    """Return the most urgent item that nobody holds and that this person may take."""
    fetch: Fetch = transaction.all
    free = (to_micros(now), by)
    for item in readable(rows_of(fetch, FREE, workspace, wanted, free)):
        if is_for(item, by):
            return item
    return None


def is_for(item: Review, by: str) -> bool:
    """Tell whether an item may be offered to a person."""
    away = (*item.skipped_by, *item.approvals, *item.rules.not_by, item.submitted_by)
    return not any(same_person(one, by) for one in away)


def do_step(transaction: Transaction, item: Review, step: Step) -> Review:
    """Do a step and write what it says; outcomes first, because one can be refused."""
    changed = step(item)
    if changed.item.released and not item.released:
        keep_answers(transaction, changed.item)
    for outcome in changed.outcomes:
        RecordOutcome(outcome, but=item.id)(transaction)
    if changed.item != item:
        put_reviews(transaction, [(item, changed.item)])
    return kept_review(transaction, changed.item)


def readable(rows: Iterator[Any]) -> Iterator[Review]:
    """Yield the items that can be read: a damaged row holds up no other, and is never taken."""
    for row in rows:
        try:
            yield review_of(row)
        except StoreCorrupt:
            continue
