"""What else happens to the queue: decisions open items, labels and erasures close them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import bindparam, select
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.give_way import give_way
from sureline.adapters.storage.late_words import kept_review
from sureline.adapters.storage.line_rows import forget_lines, put_lines
from sureline.adapters.storage.outbox_rows import put_notices
from sureline.adapters.storage.planted_step import (
    answered_elsewhere,
    forget_planted,
    is_planted,
)
from sureline.adapters.storage.queue_flow_rows import FlowCounter
from sureline.adapters.storage.review_rows import (
    COLUMNS,
    queue_counts,
    review_of,
    reviews,
    row_of,
)
from sureline.adapters.storage.statement import adding, compiled
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.ledger import DecisionRecord
from sureline.core.review.notice import notices
from sureline.core.review.transitions import DECIDING, close, replaced, supersede
from sureline.core.values.notification import Notice, NoticeKind
from sureline.core.values.outcome import Outcome
from sureline.core.values.review import Review

_insert = upsert(reviews)
_PUT = compiled(
    _insert.on_conflict_do_update(
        index_elements=["workspace", "id"],
        set_={
            column.name: _insert.excluded[column.name]
            for column in COLUMNS
            if not column.primary_key
        },
    )
)
_ADD_COUNTS = adding(queue_counts)
_OF_DECISION = compiled(
    select(*COLUMNS).where(
        reviews.c.workspace == bindparam("workspace"),
        reviews.c.decision_id == bindparam("decision_id"),
    )
)
Change = tuple[Review | None, Review]
"""An item before (None if it is new) and after."""


def put_reviews(transaction: Transaction, changes: Iterable[Change]) -> None:
    """Write items, keep the counts of the queue, and note what there is to tell."""
    counts: Counter[tuple[str, ...]] = Counter()
    rows: list[tuple[Any, ...]] = []
    told: list[Notice] = []
    flow = FlowCounter()
    for before, after in changes:
        after = kept_review(transaction, after)
        rows.append(row_of(after))
        told += [one for one in notices(before, after) if not _is_secret(transaction, one)]
        flow.add(before, after)
        counts[_counted(after)] += 1
        if before is not None:
            counts[_counted(before)] -= 1
    transaction.run_many(_PUT, rows)
    transaction.run_many(_ADD_COUNTS, [(*key, count) for key, count in counts.items() if count])
    flow.put(transaction)
    put_notices(transaction, told)


def _is_secret(transaction: Transaction, one: Notice) -> bool:
    """Tell whether an agent would hear of a planted item: how one ended is told to nobody."""
    ended = one.kind in {NoticeKind.DECIDED, NoticeKind.EXPIRED}
    return ended and is_planted(transaction, one.workspace, one.review_id)


def _counted(item: Review) -> tuple[str, ...]:
    return item.workspace, item.slice_key, item.kind.value, item.state.value


def open_reviews(transaction: Transaction, records: Sequence[DecisionRecord]) -> None:
    """Open the items of new decisions; those that they replace are superseded."""
    give_way(transaction, records)
    put_reviews(
        transaction, [(None, record.review) for record in records if record.review is not None]
    )
    put_lines(
        transaction,
        [
            (one.review, one.review_line)
            for one in records
            if one.review is not None and one.review_line is not None
        ],
    )
    for record in records:
        if record.retry_of is not None and record.retry_of != record.id:
            _retry(transaction, record, record.retry_of)


def _retry(transaction: Transaction, record: DecisionRecord, earlier: str) -> None:
    """Supersede the item of the attempt before, if the same key brought both."""

    def step(item: Review) -> Review:
        return replaced(item, slice_key=record.slice_key, submitted_by=record.submitted_by)

    _change(transaction, record.workspace, earlier, step)


def close_reviews(transaction: Transaction, outcome: Outcome, *, but: str | None = None) -> None:
    """Close what an answer from outside the queue has decided, except the item `but`."""

    def step(item: Review) -> Review:
        return item if item.id == but else close(item, outcome)

    if outcome.action in DECIDING:
        _change(transaction, outcome.workspace, outcome.decision_id, step)


def own_review(transaction: Transaction, workspace: str, decision_id: str) -> Review | None:
    """Return the item that a decision opened itself, or None; a recall's has another id."""
    rows = transaction.all(_OF_DECISION, (workspace, decision_id))
    return next((one for one in map(review_of, rows) if one.id == decision_id), None)


def forget_reviews(transaction: Transaction, workspace: str, decision_id: str) -> None:
    """Close what was erased, and delete what its reviewers wrote and its line in the list."""
    for one in (decision_id, *forget_planted(transaction, workspace, decision_id)):
        forget_lines(transaction, workspace, one)
        _change(transaction, workspace, one, lambda item: supersede(item, forget=True))


def _change(
    transaction: Transaction, workspace: str, decision_id: str, step: Callable[[Review], Review]
) -> None:
    for row in transaction.all(_OF_DECISION, (workspace, decision_id)):
        before = review_of(row)
        after = step(before)
        if after != before:
            put_reviews(transaction, [(before, after)])
            answered_elsewhere(transaction, after)
