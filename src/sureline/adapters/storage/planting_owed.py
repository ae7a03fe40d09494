"""Where a known error belongs and none could be made: it is owed until the item is decided."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import and_, bindparam, delete, exists, literal_column, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.count_tables import labels
from sureline.adapters.storage.planted_rows import owed, planting
from sureline.adapters.storage.planting_material import Fetch
from sureline.adapters.storage.review_rows import COLUMNS, review_of, reviews
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import decisions
from sureline.adapters.storage.transaction import Transaction
from sureline.core.review.honeypot import Unplanted
from sureline.core.values.review import Review

AT_ONCE = 100
"""How many places are settled in one walk."""

_SAME_ITEM = and_(reviews.c.workspace == owed.c.workspace, reviews.c.id == owed.c.review_id)
OWING = compiled(
    select(planting.c.slice_key).where(
        planting.c.workspace == bindparam("workspace"),
        exists().where(
            owed.c.workspace == planting.c.workspace, owed.c.slice_key == planting.c.slice_key
        ),
        exists(
            select(literal_column("1"))
            .select_from(
                labels.join(
                    decisions,
                    and_(decisions.c.stream == labels.c.stream, decisions.c.seq == labels.c.seq),
                )
            )
            .where(
                labels.c.mark > planting.c.tried,
                labels.c.workspace == planting.c.workspace,
                decisions.c.slice_key == planting.c.slice_key,
            )
            .correlate(planting)
        ),
    )
)
"""The slices in which something is owed and that have labels since it was last tried."""
SETTLED = compiled(
    update(planting)
    .values(tried=bindparam("mark"))
    .where(
        planting.c.workspace == bindparam("of_workspace"),
        planting.c.slice_key == bindparam("of_slice_key"),
    )
)
"""Note up to which label it was tried."""
_NEWEST = compiled(
    select(labels.c.mark)
    .where(labels.c.workspace == bindparam("workspace"))
    .order_by(labels.c.mark.desc())
    .limit(literal_column("1"))
    .offset(literal_column("0"))
)
_OWE = compiled(upsert(owed).on_conflict_do_nothing())
_WHY = compiled(
    update(planting)
    .values(why=bindparam("reason"))
    .where(
        planting.c.workspace == bindparam("of_workspace"),
        planting.c.slice_key == bindparam("of_slice_key"),
    )
)
_AGAIN = compiled(
    update(planting)
    .values(tried=literal_column("0"))
    .where(
        planting.c.workspace == bindparam("of_workspace"),
        planting.c.slice_key == bindparam("of_slice_key"),
    )
)
_UNPLANTED = compiled(
    select(planting.c.slice_key, planting.c.why).where(
        planting.c.workspace == bindparam("workspace"), planting.c.why != literal_column("''")
    )
)
_SETTLE = compiled(
    delete(owed).where(
        owed.c.workspace == bindparam("workspace"),
        owed.c.slice_key == bindparam("slice_key"),
        owed.c.review_id == bindparam("review_id"),
    )
)
_FORGET = compiled(
    delete(owed).where(
        owed.c.workspace == bindparam("workspace"),
        owed.c.slice_key == bindparam("slice_key"),
        ~exists(
            select(literal_column("1")).where(_SAME_ITEM, reviews.c.open == literal_column("1"))
        ),
    )
)
_OWED = compiled(
    select(*COLUMNS)
    .select_from(owed.join(reviews, _SAME_ITEM))
    .where(
        owed.c.workspace == bindparam("workspace"),
        owed.c.slice_key == bindparam("slice_key"),
        reviews.c.state == literal_column("'pending'"),
        reviews.c.level == literal_column("0"),
    )
    .order_by(reviews.c.opened_at, reviews.c.id)
    .limit(bindparam("limit"))
    .offset(literal_column("0"))
)


def newest_label(transaction: Transaction, workspace: str) -> int:
    """Return the mark of a workspace's newest label, 0 without any."""
    row = transaction.first(_NEWEST, (workspace,))
    return 0 if row is None else int(row[0])


def owe(transaction: Transaction, item: Review, why: str) -> None:
    """Note that something belongs behind an item, and why nothing could be planted."""
    transaction.run(_OWE, (item.workspace, item.slice_key, item.id))
    transaction.run(_WHY, (why, item.workspace, item.slice_key))


def owe_again(transaction: Transaction, like: Review, behind: str) -> None:
    """Note that something belongs behind an item once more: what was planted there has gone."""
    transaction.run(_OWE, (like.workspace, like.slice_key, behind))
    transaction.run(_AGAIN, (like.workspace, like.slice_key))


def settle_owed(transaction: Transaction, item: Review) -> None:
    """Note that nothing is owed behind an item any more, and that something could be planted."""
    transaction.run(_SETTLE, (item.workspace, item.slice_key, item.id))
    transaction.run(_WHY, ("", item.workspace, item.slice_key))


def forget_closed(transaction: Transaction, workspace: str, slice_key: str) -> None:
    """Forget the places behind what nobody will look at any more."""
    transaction.run(_FORGET, (workspace, slice_key))


def owed_items(
    transaction: Transaction, workspace: str, slice_key: str, now: datetime
) -> list[Review]:
    """Return items behind which something is owed and that still wait in time, oldest first."""
    rows = transaction.all(_OWED, (workspace, slice_key, AT_ONCE))
    return [one for one in map(review_of, rows) if one.deadline > now]


def unplanted_in(fetch: Fetch, workspace: str) -> Mapping[str, Unplanted]:
    """Return in which slices nothing could be planted the last time, and why."""
    return {row[0]: Unplanted(row[1]) for row in fetch(_UNPLANTED, (workspace,))}
