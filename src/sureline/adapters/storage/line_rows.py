"""The table of the lines by which items are found, apart from the queue: a line is erasable."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Column, Float, PrimaryKeyConstraint, Table, bindparam, delete, select
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.columns import metadata, text_column
from sureline.adapters.storage.review_rows import reviews
from sureline.adapters.storage.statement import LISTED, compiled
from sureline.adapters.storage.transaction import Transaction
from sureline.core.values.review import Review
from sureline.core.values.review_line import ReviewLine

review_lines = Table(
    "review_lines",
    metadata,
    text_column("workspace"),
    text_column("id"),
    text_column("slice_key"),
    text_column("task"),
    text_column("reasons"),
    text_column("found"),
    Column("confidence", Float),
    PrimaryKeyConstraint("workspace", "id"),
    sqlite_with_rowid=False,
)
"""The beginning of the task, codes with spaces between them, and what was found first.

All that a search compares is here, under the key itself: it looks at thousands of rows, and reads
the queue's own table for none of them.
"""

_PUT = compiled(upsert(review_lines).on_conflict_do_nothing())
_FORGET = compiled(
    delete(review_lines).where(
        review_lines.c.workspace == bindparam("workspace"),
        review_lines.c.id.in_(
            select(reviews.c.id).where(
                reviews.c.workspace == bindparam("of_workspace"),
                reviews.c.decision_id == bindparam("decision_id"),
            )
        ),
    )
)
LINES = compiled(
    select(
        review_lines.c.id,
        review_lines.c.task,
        review_lines.c.reasons,
        review_lines.c.found,
        review_lines.c.confidence,
    ).where(review_lines.c.workspace == bindparam("workspace"), review_lines.c.id.in_(LISTED))
)


def put_lines(transaction: Transaction, found: Iterable[tuple[Review, ReviewLine]]) -> None:
    """Write the lines of new items."""
    transaction.run_many(
        _PUT,
        [
            (
                item.workspace,
                item.id,
                item.slice_key,
                line.task,
                " ".join(line.reasons),
                line.found,
                line.confidence,
            )
            for item, line in found
        ],
    )


def forget_lines(transaction: Transaction, workspace: str, decision_id: str) -> None:
    """Delete the lines of a decision's items, so that no search finds what was erased."""
    transaction.run(_FORGET, (workspace, workspace, decision_id))


def line_of_row(task: Any, reasons: Any, found: Any, confidence: Any) -> ReviewLine:
    """Return the line of a row."""
    return ReviewLine(
        task=str(task),
        reasons=tuple(str(reasons).split()),
        found=str(found),
        confidence=confidence,
    )
