"""Let a planted item give way to a decision that comes in under its id (R7).

An id that looks like those of a caller may be the caller's next. What is real wins: it is decided,
queued and answered as if nothing had been planted. What people had said of the planted item counts
as what they noticed, and another is planted in its place.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import bindparam, delete, select

from sureline.adapters.storage.line_rows import forget_lines
from sureline.adapters.storage.planted_rows import own_answers, planted, planted_outcomes
from sureline.adapters.storage.planted_step import FOLLOWED, answered_elsewhere
from sureline.adapters.storage.planting_owed import owe_again
from sureline.adapters.storage.queue_flow_rows import FlowCounter
from sureline.adapters.storage.review_rows import COLUMNS, queue_counts, review_of, reviews
from sureline.adapters.storage.statement import LISTED, Statement, adding, compiled, json_list
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.ledger import DecisionRecord
from sureline.core.review.honeypot import PlantedFor
from sureline.core.values.review import Review

_AMONG = compiled(
    select(planted.c.review_id, planted.c.trigger).where(
        planted.c.workspace == bindparam("workspace"), planted.c.review_id.in_(LISTED)
    )
)
_ITEM = compiled(
    select(*COLUMNS).where(
        reviews.c.workspace == bindparam("workspace"), reviews.c.id == bindparam("id")
    )
)
_ADD_COUNTS = adding(queue_counts)
_GONE: tuple[Statement, ...] = (
    FOLLOWED,
    *(
        compiled(
            delete(table).where(
                table.c.workspace == bindparam("workspace"),
                table.c.review_id == bindparam("review_id"),
            )
        )
        for table in (planted, own_answers, planted_outcomes)
    ),
    compiled(
        delete(reviews).where(
            reviews.c.workspace == bindparam("workspace"), reviews.c.id == bindparam("review_id")
        )
    ),
)


def give_way(transaction: Transaction, records: Sequence[DecisionRecord]) -> None:
    """Take what is planted under the ids of new decisions out of the queue."""
    by_workspace: dict[str, list[str]] = {}
    for one in records:
        by_workspace.setdefault(one.workspace, []).append(one.id)
    for workspace, ids in by_workspace.items():
        for review_id, trigger in transaction.all(_AMONG, (workspace, json_list(ids))):
            row = transaction.first(_ITEM, (workspace, review_id))
            if row is not None:
                _take_out(transaction, review_of(row), trigger)


def _take_out(transaction: Transaction, item: Review, trigger: str) -> None:
    answered_elsewhere(transaction, item, released=False)
    forget_lines(transaction, item.workspace, item.id)
    for one in _GONE:
        transaction.run(one, (item.workspace, item.id))
    key = (item.workspace, item.slice_key, item.kind.value, item.state.value)
    transaction.run_many(_ADD_COUNTS, [(*key, -1)])
    flow = FlowCounter()
    flow.remove(item)
    flow.put(transaction)
    purpose, _, behind = trigger.partition(":")
    if purpose == PlantedFor.HONEYPOT:
        owe_again(transaction, item, behind)
