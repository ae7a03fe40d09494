"""Walk over the items that are new in the queue, and plant others among them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import and_, bindparam, exists, func, literal_column, or_, select
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.count_tables import labels
from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.planted_rows import planted, planting
from sureline.adapters.storage.review_rows import COLUMNS, review_of, reviews
from sureline.adapters.storage.statement import Statement, compiled
from sureline.adapters.storage.tables import decisions, outcomes, payloads
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.planted import Choose, Material
from sureline.core.review.honeypot import Planted
from sureline.core.values.review import Review

AT_ONCE = 500
"""How many items one walk goes over."""
MATERIAL = 50
"""How many past decisions of each kind there are to choose from."""

_WHERE = compiled(
    select(planting.c.opened_at, planting.c.review_id, planting.c.seen).where(
        planting.c.workspace == bindparam("workspace"),
        planting.c.slice_key == bindparam("slice_key"),
    )
)
_put = upsert(planting)
_MOVE = compiled(
    _put.on_conflict_do_update(
        index_elements=["workspace", "slice_key"],
        set_={name: _put.excluded[name] for name in ("seen", "opened_at", "review_id")},
    )
)
_NEW = compiled(
    select(*COLUMNS)
    .where(
        reviews.c.workspace == bindparam("workspace"),
        # Also what is decided already: a quick reviewer counts as well. Both values: the index.
        reviews.c.open.in_([literal_column("0"), literal_column("1")]),
        reviews.c.kind == literal_column("'review'"),
        or_(
            reviews.c.opened_at > bindparam("after"),
            and_(reviews.c.opened_at == bindparam("same"), reviews.c.id > bindparam("id")),
        ),
        ~exists().where(
            planted.c.workspace == reviews.c.workspace, planted.c.review_id == reviews.c.id
        ),
    )
    .order_by(reviews.c.opened_at, reviews.c.id)
    .limit(bindparam("limit"))
    .offset(literal_column("0"))
)
_MATERIAL = compiled(
    select(
        decisions.c.id,
        labels.c.correct,
        decisions.c.submitted_by,
        decisions.c.body,
        payloads.c.answer,
        payloads.c.request,
        outcomes.c.by,
    )
    .select_from(
        labels.join(
            decisions,
            and_(decisions.c.stream == labels.c.stream, decisions.c.seq == labels.c.seq),
        )
        .join(
            payloads,
            and_(payloads.c.stream == decisions.c.stream, payloads.c.seq == decisions.c.seq),
        )
        .join(
            outcomes,
            and_(
                outcomes.c.workspace == labels.c.workspace,
                outcomes.c.decision_id == labels.c.decision_id,
                outcomes.c.seq == labels.c.mark,
            ),
        )
    )
    .where(
        labels.c.workspace == bindparam("workspace"),
        decisions.c.slice_key == bindparam("slice_key"),
        decisions.c.route.in_([literal_column("'human_review'"), literal_column("'abstain'")]),
        labels.c.correct == bindparam("correct"),
        ~exists().where(
            planted.c.workspace == decisions.c.workspace, planted.c.source_id == decisions.c.id
        ),
    )
    .order_by(labels.c.mark.desc())
    .limit(bindparam("limit"))
    .offset(literal_column("0"))
)
"""The latest labelled decisions of a slice of which nothing was made yet.

What acted on its own says so in its reasons, and would be known by them among what people see.
"""
_BODY = compiled(
    select(decisions.c.body).where(
        decisions.c.workspace == bindparam("workspace"), decisions.c.id == bindparam("id")
    )
)
_SEEN_BY = compiled(
    select(func.distinct(outcomes.c.by)).where(
        outcomes.c.workspace == bindparam("workspace"),
        outcomes.c.decision_id == bindparam("decision_id"),
    )
)

Fetch = Callable[[Statement, Sequence[Any]], list[Any]]
Place = Callable[[Transaction, Planted], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planting:
    """The job of one walk; `place` puts a planted item into the queue."""

    workspace: str
    choose: Choose
    now: datetime
    place: Place

    def has_work(self, fetch: Fetch) -> bool:
        """Tell whether there is anything new, or a first walk to be noted."""
        begun = fetch(_WHERE, (self.workspace, ""))
        return not begun or bool(fetch(_NEW, self._after(begun[0], 1)))

    def __call__(self, transaction: Transaction) -> int:
        """Walk, and return how many were planted."""
        begun = transaction.first(_WHERE, (self.workspace, ""))
        if begun is None:
            transaction.run(_MOVE, (self.workspace, "", 0, to_micros(self.now), ""))
            return 0
        count = 0
        for item in map(review_of, transaction.all(_NEW, self._after(begun, AT_ONCE))):
            count += self._pass(transaction, item)
        return count

    def _after(self, begun: Sequence[Any], limit: int) -> tuple[Any, ...]:
        return self.workspace, begun[0], begun[0], begun[1], limit

    def _pass(self, transaction: Transaction, item: Review) -> bool:
        """Go by one item, and plant another behind it where `choose` says so."""
        known = transaction.first(_WHERE, (self.workspace, item.slice_key))
        ordinal = 1 + (0 if known is None else known[2])
        at = to_micros(item.opened_at)
        for key, seen in ((item.slice_key, ordinal), ("", 0)):
            transaction.run(_MOVE, (self.workspace, key, seen, at, item.id))
        one = self.choose(item, ordinal, partial(self._material, transaction, item))
        if one is None:
            return False
        if one.answer is not None:  # nobody has seen this output
            return self.place(transaction, one)
        seen_by = [row[0] for row in transaction.all(_SEEN_BY, (self.workspace, one.source_id))]
        rules = replace(one.review.rules, not_by=tuple(sorted(seen_by)))
        return self.place(transaction, replace(one, review=replace(one.review, rules=rules)))

    def _material(self, transaction: Transaction, item: Review) -> list[Material]:
        """Return what would not stand out beside an item."""
        row = transaction.first(_BODY, (self.workspace, item.decision_id))
        beside = {} if row is None else json.loads(row[0])
        found = [
            _material(row, beside)
            for correct in (0, 1)
            for row in transaction.all(
                _MATERIAL, (self.workspace, item.slice_key, correct, MATERIAL)
            )
        ]
        like = [one for one in found if one is not None]
        newest = [one for one in like if one.policy == beside.get("policy")]
        return newest or like


_ALIKE = ("mode", "stakes", "action_class")
"""In which a planted item is as the one beside it: approvals and order hang on these."""


def _material(row: Sequence[Any], beside: Mapping[str, Any]) -> Material | None:
    """Return a past decision as material, None where it would stand out beside another.

    Measured in the same way, it may as well have been decided under the other's policy.
    """
    body = json.loads(row[3])
    if body["review_id"] is None or any(body[name] != beside.get(name) for name in _ALIKE):
        return None
    as_now = body["measurement"] == beside["measurement"]
    return Material(
        decision_id=row[0],
        correct=bool(row[1]),
        stakes=body["stakes"],
        confidence=body["confidence"],
        submitted_by=row[2],
        body=row[3],
        answer=row[4],
        request=row[5],
        by=row[6],
        policy=beside["policy"] if as_now else body["policy"],
    )
