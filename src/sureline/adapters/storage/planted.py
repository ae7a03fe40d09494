"""What is planted in the queue, in its tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import and_, bindparam, delete, literal_column, select
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.database import Database
from sureline.adapters.storage.golden_rows import GOLDEN, golden_case
from sureline.adapters.storage.labels_by import LABELS_BY, counted_by, labels_of
from sureline.adapters.storage.late_words import is_erased
from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.place_planted import place
from sureline.adapters.storage.plant import Planting
from sureline.adapters.storage.planted_outcomes import PLANTED_OUTCOMES_OF, planted_outcome_of
from sureline.adapters.storage.planted_rows import (
    ANSWERS,
    answer_of,
    follow_ups,
    own_answers,
    planted,
    planted_answers,
)
from sureline.adapters.storage.planted_step import FOLLOWED
from sureline.adapters.storage.planting_material import ids_beside, is_taken
from sureline.adapters.storage.planting_owed import unplanted_in
from sureline.adapters.storage.review_rows import COLUMNS, review_of, reviews
from sureline.adapters.storage.statement import Statement, compiled
from sureline.adapters.storage.stored_decisions import BY_ID, stored_decision
from sureline.application.ports.ledger import StoredDecision
from sureline.application.ports.planted import Choose, GoldenCase
from sureline.core.review.attention import DoneItem
from sureline.core.review.double_review import TwoAnswers
from sureline.core.review.honeypot import Planted, PlantedAnswer, PlantedFor, Unplanted
from sureline.core.values.label_count import LabelCount
from sureline.core.values.outcome import Outcome
from sureline.core.values.review import Review

_SAME_ITEM = and_(reviews.c.workspace == planted.c.workspace, reviews.c.id == planted.c.review_id)
_ONE = compiled(
    select(planted, *COLUMNS)
    .select_from(planted.join(reviews, _SAME_ITEM))
    .where(
        planted.c.workspace == bindparam("of_workspace"),
        planted.c.review_id == bindparam("of_review_id"),
    )
)
_CONTENT = compiled(
    select(planted.c.source_id, planted.c.body, planted.c.answer).where(
        planted.c.workspace == bindparam("workspace"),
        planted.c.review_id == bindparam("review_id"),
    )
)
_ANSWERED = compiled(
    select(*ANSWERS).where(
        planted_answers.c.workspace == bindparam("workspace"),
        planted_answers.c.review_id == bindparam("review_id"),
    )
)
_ANSWERS = compiled(
    select(*ANSWERS)
    .where(
        planted_answers.c.workspace == bindparam("workspace"),
        planted_answers.c.answered_at >= bindparam("since"),
        planted_answers.c.purpose == bindparam("purpose"),
    )
    .order_by(planted_answers.c.answered_at, planted_answers.c.review_id, planted_answers.c.by)
)
_PAIRS = compiled(
    select(
        planted_answers.c.slice_key,
        planted.c.first_by,
        planted.c.first_correct,
        planted_answers.c.by,
        planted_answers.c.correct,
    )
    .select_from(
        planted_answers.join(
            planted,
            and_(
                planted.c.workspace == planted_answers.c.workspace,
                planted.c.review_id == planted_answers.c.review_id,
            ),
        )
    )
    .where(
        planted_answers.c.workspace == bindparam("workspace"),
        planted_answers.c.answered_at >= bindparam("since"),
        planted.c.purpose == bindparam("purpose"),
    )
    .order_by(planted_answers.c.answered_at, planted_answers.c.review_id)
)
_DONE = compiled(
    select(*COLUMNS)
    .where(
        reviews.c.workspace == bindparam("workspace"),
        reviews.c.open == bindparam("open"),
        reviews.c.opened_at >= bindparam("since"),
    )
    .order_by(reviews.c.opened_at)
)
_FOLLOW_UPS = compiled(
    select(follow_ups.c.review_id)
    .where(follow_ups.c.workspace == bindparam("workspace"))
    .order_by(follow_ups.c.review_id)
    .limit(bindparam("limit"))
    .offset(bindparam("offset"))
)
_FORGET_ANSWERS = compiled(
    delete(planted_answers).where(
        planted_answers.c.workspace == bindparam("workspace"),
        planted_answers.c.answered_at < bindparam("before"),
    )
)
_OLD_ANSWERS = compiled(
    select(planted_answers.c.by)
    .where(
        planted_answers.c.workspace == bindparam("workspace"),
        planted_answers.c.answered_at < bindparam("before"),
    )
    .limit(literal_column("1"))
    .offset(literal_column("0"))
)
_KEEP_OWN = compiled(upsert(own_answers).on_conflict_do_nothing())
_OWN = compiled(
    select(own_answers.c.answer).where(
        own_answers.c.workspace == bindparam("workspace"),
        own_answers.c.review_id == bindparam("review_id"),
        own_answers.c.by == bindparam("by"),
    )
)


class SqlPlanted:
    """Keeps what is planted; see the port `PlantedStore` for the contract."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def plant(self, workspace: str, choose: Choose, *, now: datetime) -> int:
        """Walk over new items under the write lock; nothing is locked while there are none."""
        planting = Planting(workspace=workspace, choose=choose, now=now, place=place)
        if not await self._database.apart(planting.has_work):
            return 0
        return await self._database.write(planting)

    async def unplanted(self, workspace: str) -> Mapping[str, Unplanted]:
        """Return in which slices nothing could be planted, and why."""
        return await self._database.apart(lambda fetch: unplanted_in(fetch, workspace))

    async def ids_of(self, item: Review) -> Sequence[str]:
        """Return ids of the latest items of an item's slice."""
        return await self._database.apart(lambda fetch: ids_beside(fetch, item))

    async def is_taken(self, workspace: str, one: str) -> bool:
        """Tell whether a decision or an item has an id."""
        return await self._database.apart(lambda fetch: is_taken(fetch, workspace, one))

    async def open(self, planted: Planted) -> bool:
        """Plant an item; its trigger makes sure that it is one."""
        return await self._database.write(lambda transaction: place(transaction, planted))

    async def get(self, workspace: str, review_id: str) -> Planted | None:
        """Return a planted item, None if this is none."""
        rows = await self._database.read(_ONE, (workspace, review_id))
        return _planted(rows[0]) if rows else None

    async def content(self, workspace: str, review_id: str) -> StoredDecision | None:
        """Return what it shows: its own decision over the task and the sources of another."""
        rows = await self._database.read(_CONTENT, (workspace, review_id))
        if not rows:
            return None
        source_id, body, answer = rows[0]
        source = stored_decision((await self._database.read(BY_ID, (workspace, source_id)))[0])
        gone, said = source.request is None, json.loads(body)
        return replace(
            source,
            id=review_id,
            route=said["route"],
            mode=said["mode"],
            measurement_hash=said["measurement"],
            created_at=datetime.fromisoformat(said["created_at"]),
            body=body,
            answer=None if gone else answer or source.answer,
        )

    async def outcomes(self, workspace: str, review_id: str) -> Sequence[Outcome]:
        """Return what would be its outcomes, oldest first."""
        rows = await self._database.read(PLANTED_OUTCOMES_OF, (workspace, review_id))
        return [planted_outcome_of(row) for row in rows]

    async def keep_own(
        self, workspace: str, review_id: str, *, by: str, answer: str, at: datetime
    ) -> None:
        """Keep somebody's own answer; the first one stands."""
        row = (workspace, review_id, by, answer, to_micros(at))
        await self._database.write(
            lambda one: is_erased(one, workspace, review_id) or one.run(_KEEP_OWN, row)
        )

    async def own(self, workspace: str, review_id: str, by: str) -> str | None:
        """Return somebody's own answer, None without one."""
        rows = await self._database.read(_OWN, (workspace, review_id, by))
        return rows[0][0] if rows else None

    async def answered(self, workspace: str, review_id: str) -> Sequence[PlantedAnswer]:
        """Return what was said of a planted item."""
        return [
            answer_of(row) for row in await self._database.read(_ANSWERED, (workspace, review_id))
        ]

    async def answers(self, workspace: str, since: datetime) -> Sequence[PlantedAnswer]:
        """Return what was said of known errors, oldest first."""
        wanted = (workspace, to_micros(since), PlantedFor.HONEYPOT.value)
        return [answer_of(row) for row in await self._apart(_ANSWERS, wanted)]

    async def pairs(self, workspace: str, since: datetime) -> Sequence[TwoAnswers]:
        """Return what two people said of the same, oldest first."""
        wanted = (workspace, to_micros(since), PlantedFor.SECOND.value)
        return [
            TwoAnswers(
                slice_key=key,
                first_by=first_by,
                first=bool(first),
                second_by=second_by,
                second=bool(second),
            )
            for key, first_by, first, second_by, second in await self._apart(_PAIRS, wanted)
        ]

    async def done(self, workspace: str, since: datetime) -> Sequence[DoneItem]:
        """Return people's verdicts, those on planted items among them."""
        rows = await self._apart(_DONE, (workspace, 0, to_micros(since)))
        return [
            DoneItem(
                by=said.by,
                slice_key=item.slice_key,
                action=said.action,
                at=said.at,
                seconds=said.seconds,
            )
            for item in map(review_of, rows)
            for said in item.given
        ]

    async def follow_ups(self, workspace: str, limit: int) -> Sequence[str]:
        """Return items that were released and not looked at again yet."""
        return [row[0] for row in await self._database.read(_FOLLOW_UPS, (workspace, limit, 0))]

    async def followed(self, workspace: str, review_id: str) -> None:
        """Note that an item was looked at again."""
        await self._database.write(lambda one: one.run(FOLLOWED, (workspace, review_id)))

    async def forget(self, workspace: str, before: datetime) -> int:
        """Delete what single people said of planted items before a moment."""
        moment = to_micros(before)
        if not await self._database.read(_OLD_ANSWERS, (workspace, moment)):
            return 0
        return await self._database.write(lambda one: one.run(_FORGET_ANSWERS, (workspace, moment)))

    async def labels_by(
        self, workspace: str, slice_key: str, measurement_hash: str, *, since_week: int, by: str
    ) -> Sequence[LabelCount]:
        """Return the counted labels that one person gave."""
        wanted = labels_of(workspace, slice_key, measurement_hash, by)
        return counted_by(await self._apart(LABELS_BY, wanted), since_week, by)

    async def golden(self, workspace: str, slice_key: str | None) -> Sequence[GoldenCase]:
        """Return the edits whose payloads are there, oldest first."""
        found = map(golden_case, await self._apart(GOLDEN, (workspace,)))
        return [one for one in found if slice_key in {None, one.slice_key}]

    async def _apart(self, statement: Statement, parameters: Sequence[Any]) -> list[Any]:
        """Read what may be long beside the short reads."""
        return await self._database.apart(lambda fetch: fetch(statement, parameters))


def _planted(row: Sequence[Any]) -> Planted:
    _, _, purpose, source_id, origin, trigger, body, answer, first_by, first = row[:10]
    return Planted(
        review=review_of(row[10:]),
        purpose=PlantedFor(purpose),
        source_id=source_id,
        origin=origin,
        trigger=trigger,
        body=body,
        answer=answer,
        first_by=first_by,
        first_correct=None if first is None else bool(first),
    )
