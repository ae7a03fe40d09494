"""Walk over the items that are new in the queue, and plant others among them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import and_, bindparam, exists, func, literal_column, or_, select
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.planted_rows import planted, planting
from sureline.adapters.storage.planting_material import beside
from sureline.adapters.storage.planting_owed import (
    OWING,
    SETTLED,
    forget_closed,
    newest_label,
    owe,
    owed_items,
    settle_owed,
)
from sureline.adapters.storage.review_rows import COLUMNS, review_of, reviews
from sureline.adapters.storage.statement import Statement, compiled
from sureline.adapters.storage.tables import outcomes
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.planted import Choose
from sureline.core.review.honeypot import PAST_REJECT, Planted, Unplanted
from sureline.core.values.review import Review

AT_ONCE = 500
"""How many items one walk goes over."""

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
        """Tell whether there is anything new, something owed, or a first walk to be noted."""
        begun = fetch(_WHERE, (self.workspace, ""))
        if not begun or fetch(_NEW, self._after(begun[0], 1)):
            return True
        return bool(fetch(OWING, (self.workspace,)))

    def __call__(self, transaction: Transaction) -> int:
        """Walk, and return how many were planted."""
        begun = transaction.first(_WHERE, (self.workspace, ""))
        if begun is None:
            transaction.run(_MOVE, (self.workspace, "", 0, to_micros(self.now), "", "", 0))
            return 0
        count = sum(self._settle(transaction, row[0]) for row in self._owing(transaction))
        for item in map(review_of, transaction.all(_NEW, self._after(begun, AT_ONCE))):
            count += self._pass(transaction, item)
        return count

    def _owing(self, transaction: Transaction) -> list[Any]:
        return list(transaction.all(OWING, (self.workspace,)))

    def _after(self, begun: Sequence[Any], limit: int) -> tuple[Any, ...]:
        return self.workspace, begun[0], begun[0], begun[1], limit

    def _pass(self, transaction: Transaction, item: Review) -> bool:
        """Go by one item, and plant another behind it where `choose` says so."""
        known = transaction.first(_WHERE, (self.workspace, item.slice_key))
        ordinal = 1 + (0 if known is None else known[2])
        at = to_micros(item.opened_at)
        for key, seen in ((item.slice_key, ordinal), ("", 0)):
            transaction.run(_MOVE, (self.workspace, key, seen, at, item.id, "", 0))
        one = self.choose(item, ordinal, partial(beside, transaction, item))
        if isinstance(one, Unplanted):
            owe(transaction, item, one.value)
            # All labels that there are have been tried: the next look begins behind them.
            mark = newest_label(transaction, self.workspace)
            transaction.run(SETTLED, (mark, self.workspace, item.slice_key))
            return False
        return one is not None and self._place(transaction, item, one)

    def _settle(self, transaction: Transaction, slice_key: str) -> int:
        """Plant what is owed in a slice, as far as there is something to plant now."""
        mark, count = newest_label(transaction, self.workspace), 0
        forget_closed(transaction, self.workspace, slice_key)
        for item in owed_items(transaction, self.workspace, slice_key, self.now):
            one = self.choose(item, None, partial(beside, transaction, item))
            if isinstance(one, Unplanted):
                owe(transaction, item, one.value)
                break
            if one is not None:
                count += self._place(transaction, item, one)
            settle_owed(transaction, item)
        transaction.run(SETTLED, (mark, self.workspace, slice_key))
        return count

    def _place(self, transaction: Transaction, item: Review, one: Planted) -> bool:
        placed = self.place(transaction, self._for_others(transaction, one))
        if placed:
            settle_owed(transaction, item)
        return placed

    def _for_others(self, transaction: Transaction, one: Planted) -> Planted:
        """Return it for those who have not seen its output; a spoilt one nobody has."""
        if one.origin != PAST_REJECT:
            return one
        seen_by = [row[0] for row in transaction.all(_SEEN_BY, (self.workspace, one.source_id))]
        rules = replace(one.review.rules, not_by=tuple(sorted(seen_by)))
        return replace(one, review=replace(one.review, rules=rules))
