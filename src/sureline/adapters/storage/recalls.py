"""Recalls on their tables."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from sqlalchemy import bindparam, func, literal_column, or_, select
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.database import Database
from sureline.adapters.storage.line_rows import put_lines
from sureline.adapters.storage.places import EVERYWHERE
from sureline.adapters.storage.queued import put_reviews
from sureline.adapters.storage.recall_pages import (
    Fetch,
    automatic,
    content_of,
    covers,
    horizon,
    is_before,
    page_of,
)
from sureline.adapters.storage.recall_rows import (
    COLUMNS,
    recall_of,
    recalled,
    recalls,
    row_of,
    wanted_text,
)
from sureline.adapters.storage.registry import chain_activation
from sureline.adapters.storage.seal import Seal
from sureline.adapters.storage.statement import LISTED, compiled, json_list
from sureline.adapters.storage.tables import consumptions
from sureline.adapters.storage.transaction import COMMON_STREAM, Transaction
from sureline.application.ports.recalls import RECALL, CalledBack, Content, RecallPage
from sureline.application.ports.registry import Activation
from sureline.core.values.recall import Recall, RecallWanted
from sureline.errors import NotFound, Refused

_ONE = compiled(
    select(*COLUMNS).where(
        recalls.c.workspace == bindparam("workspace"), recalls.c.id == bindparam("id")
    )
)
_LIST = compiled(
    select(*COLUMNS)
    .where(
        recalls.c.workspace == bindparam("workspace"),
        or_(bindparam("every") == literal_column("1"), recalls.c.finished_at.is_(None)),
    )
    .order_by(recalls.c.started_at.desc(), recalls.c.id)
    .limit(bindparam("limit"))
    .offset(literal_column("0"))
)
_put = upsert(recalls)
_PUT = compiled(
    _put.on_conflict_do_update(
        index_elements=["workspace", "id"],
        set_={column.name: _put.excluded[column.name] for column in COLUMNS},
    )
)
_CALL_BACK = compiled(upsert(recalled).on_conflict_do_nothing())
_USED = compiled(
    select(func.count())
    .select_from(consumptions)
    .where(
        consumptions.c.workspace == bindparam("workspace"), consumptions.c.decision_id.in_(LISTED)
    )
)
_CALLED_BACK = compiled(
    select(recalled.c.recall_id).where(
        recalled.c.workspace == bindparam("workspace"),
        recalled.c.decision_id == bindparam("decision_id"),
    )
)
_MOST_UNFINISHED = 10_000
T = TypeVar("T")


class SqlRecalls:
    """Keeps recalls; see the port `RecallStore` for the contract."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def horizon(self) -> int:
        """Return the newest place in the ledger."""
        return await self._database.apart(horizon)

    async def page(
        self, workspace: str, wanted: RecallWanted, *, after: int, until: int
    ) -> RecallPage:
        """Return what is covered, a page of it; read off the loop."""
        return await self._apart(lambda fetch: page_of(fetch, workspace, wanted, after, until))

    async def contents(self, marks: Sequence[int]) -> Sequence[Content | None]:
        """Return contents, one payload in memory at a time; read off the loop."""
        return await self._apart(lambda fetch: [content_of(fetch, mark) for mark in marks])

    async def start(self, recall: Recall) -> Recall:
        """Begin a recall, or go on with one of the same; the write lock makes it atomic."""
        note = f"{wanted_text(recall.wanted)}: {recall.reason}"
        act = Activation(
            workspace=recall.workspace,
            kind=RECALL,
            subject=recall.id,
            by=recall.by,
            at=recall.started_at,
            note=note,
        )

        def write(transaction: Transaction) -> Recall:
            for one in unfinished(transaction.all, recall.workspace):
                if one.wanted == recall.wanted:
                    return one
            begun = replace(recall, until_mark=_end(transaction, recall.started_at))
            chain_activation(transaction, act)
            transaction.run(_PUT, row_of(begun))
            return begun

        return await self._database.write(write)

    async def advance(
        self, recall: Recall, rows: Sequence[CalledBack], *, done_mark: int, at: datetime
    ) -> Recall:
        """Call back a batch and note how far the recall is, in one transaction."""

        def write(transaction: Transaction) -> Recall:
            found = transaction.first(_ONE, (recall.workspace, recall.id))
            if found is None:
                raise NotFound(f"there is no recall {recall.id!r}")
            now = recall_of(found)
            if now.done_mark != recall.done_mark or now.finished_at is not None:
                return now
            new = [one for one in rows if _call_back(transaction, recall, one)]
            items = [one.review for one in new if one.review is not None]
            put_reviews(transaction, [(None, item) for item in items])
            put_lines(
                transaction, [(one.review, one.line) for one in new if one.review and one.line]
            )
            ids = json_list(one.decision_id for one in new)
            used = transaction.all(_USED, (recall.workspace, ids))[0][0]
            after = replace(
                now,
                done_mark=done_mark,
                recalled=now.recalled + len(new),
                queued=now.queued + len(items),
                used=now.used + used,
                finished_at=at if done_mark >= now.until_mark else None,
            )
            transaction.run(_PUT, row_of(after))
            return after

        return await self._database.write(write)

    async def get(self, workspace: str, recall_id: str) -> Recall | None:
        """Return a recall, or None."""
        rows = await self._database.read(_ONE, (workspace, recall_id))
        return recall_of(rows[0]) if rows else None

    async def list(
        self, workspace: str, *, only_unfinished: bool = False, limit: int = 100
    ) -> Sequence[Recall]:
        """Return recalls, the newest first."""
        rows = await self._database.read(_LIST, (workspace, int(not only_unfinished), limit))
        return [recall_of(row) for row in rows]

    async def _apart(self, read: Callable[[Fetch], T]) -> T:
        def work() -> T:
            with self._database.reader() as fetch:
                return read(fetch)

        return await asyncio.to_thread(work)


def _end(transaction: Transaction, at: datetime) -> int:
    """Return where the ledger ends now; streams of writers end where a seal says so."""
    if horizon(transaction.all) < EVERYWHERE:
        return transaction.head(COMMON_STREAM).seq
    Seal(at)(transaction)
    return EVERYWHERE + transaction.head(COMMON_STREAM).seq


def unfinished(fetch: Fetch, workspace: str) -> list[Recall]:
    """Return the recalls that are not carried out yet."""
    return [recall_of(row) for row in fetch(_LIST, (workspace, 0, _MOST_UNFINISHED))]


def refuse_recalled(transaction: Transaction, workspace: str, decision_id: str) -> None:
    """Raise Refused if an approval was called back, or will be as soon as its recall gets there."""
    row = transaction.first(_CALLED_BACK, (workspace, decision_id))
    found = None if row is None else row[0]
    begun = unfinished(transaction.all, workspace) if found is None else []
    if begun and (facts := automatic(transaction.all, workspace, decision_id)) is not None:
        meant = [
            one.id
            for one in begun
            if is_before(transaction.all, one, facts) and covers(transaction.all, one.wanted, facts)
        ]
        found = meant[0] if meant else None
    if found is not None:
        raise Refused(f"this approval was called back by the recall {found}; decide again")


def _call_back(transaction: Transaction, recall: Recall, one: CalledBack) -> bool:
    review_id = None if one.review is None else one.review.id
    row = (recall.workspace, one.decision_id, recall.id, review_id)
    return transaction.run(_CALL_BACK, row) == 1
