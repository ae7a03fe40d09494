"""What else happens to the queue: decisions open items, labels and erasures close them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import bindparam, select
from sqlalchemy.dialects.sqlite import insert as upsert

from sureline.adapters.storage.review_rows import COLUMNS, review_of, reviews, row_of
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.ledger import DecisionRecord
from sureline.core.review.transitions import DECIDING, close, supersede
from sureline.core.values.outcome import Outcome
from sureline.core.values.review import Review

_insert = upsert(reviews)
PUT_REVIEW = compiled(
    _insert.on_conflict_do_update(
        index_elements=["workspace", "id"],
        set_={
            column.name: _insert.excluded[column.name]
            for column in COLUMNS
            if not column.primary_key
        },
    )
)
_OF_DECISION = compiled(
    select(*COLUMNS).where(
        reviews.c.workspace == bindparam("workspace"),
        reviews.c.decision_id == bindparam("decision_id"),
    )
)


def open_reviews(transaction: Transaction, records: Sequence[DecisionRecord]) -> None:
    """Open the items of new decisions; those of earlier attempts at the same are superseded."""
    rows = [row_of(record.review) for record in records if record.review is not None]
    transaction.run_many(PUT_REVIEW, rows)
    for record in records:
        if record.retry_of is not None:
            _change(transaction, record.workspace, record.retry_of, supersede)


def close_reviews(transaction: Transaction, outcome: Outcome) -> None:
    """Close what an answer from outside the queue has decided."""
    if outcome.action in DECIDING:
        _change(
            transaction, outcome.workspace, outcome.decision_id, lambda item: close(item, outcome)
        )


def forget_reviews(transaction: Transaction, workspace: str, decision_id: str) -> None:
    """Close what was erased, and delete what its reviewers wrote."""
    _change(transaction, workspace, decision_id, lambda item: supersede(item, forget=True))


def _change(
    transaction: Transaction, workspace: str, decision_id: str, step: Callable[[Review], Review]
) -> None:
    for row in transaction.all(_OF_DECISION, (workspace, decision_id)):
        before = review_of(row)
        after = step(before)
        if after != before:
            transaction.run(PUT_REVIEW, row_of(after))
