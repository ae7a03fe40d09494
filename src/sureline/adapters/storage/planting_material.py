"""Read what a known error can be made of, and what lies beside the place where it would lie."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import and_, bindparam, exists, literal_column, select, union_all

from sureline.adapters.storage.count_tables import labels
from sureline.adapters.storage.planted_rows import planted
from sureline.adapters.storage.review_rows import reviews
from sureline.adapters.storage.statement import Statement, compiled
from sureline.adapters.storage.tables import decisions, outcomes, payloads
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.planted import Beside, Material
from sureline.core.values.review import Review

MATERIAL = 50
"""How many past decisions of each kind there are to choose from."""
IDS = 200
"""How many ids show what those of a slice look like."""

_MATERIAL = compiled(
    select(
        decisions.c.id,
        labels.c.correct,
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
        decisions.c.route.in_(
            [literal_column(f"'{one}'") for one in ("human_review", "human_required", "abstain")]
        ),
        labels.c.correct == bindparam("correct"),
        ~exists().where(
            planted.c.workspace == decisions.c.workspace, planted.c.source_id == decisions.c.id
        ),
    )
    .order_by(labels.c.mark.desc())
    .limit(bindparam("limit"))
    .offset(literal_column("0"))
)
"""The latest labelled decisions of a slice that came to people, of which nothing was made yet."""
_BODY = compiled(
    select(decisions.c.body).where(
        decisions.c.workspace == bindparam("workspace"), decisions.c.id == bindparam("id")
    )
)
_IDS = compiled(
    select(reviews.c.id)
    .where(
        reviews.c.workspace == bindparam("workspace"),
        reviews.c.slice_key == bindparam("slice_key"),
        reviews.c.kind == literal_column("'review'"),
        reviews.c.state == bindparam("state"),
        # What was planted beyond the end of a series would make its gaps look free.
        ~exists().where(
            planted.c.workspace == reviews.c.workspace, planted.c.review_id == reviews.c.id
        ),
    )
    .order_by(reviews.c.opened_at.desc())
    .limit(bindparam("limit"))
    .offset(literal_column("0"))
)
_TAKEN = compiled(
    union_all(
        select(literal_column("1")).where(
            decisions.c.workspace == bindparam("workspace"), decisions.c.id == bindparam("id")
        ),
        select(literal_column("1")).where(
            reviews.c.workspace == bindparam("of_workspace"), reviews.c.id == bindparam("of_id")
        ),
    )
)


Fetch = Callable[[Statement, Sequence[Any]], Sequence[Any]]


def beside(transaction: Transaction, item: Review) -> Beside:
    """Return what there is where something may be planted behind an item."""
    row = transaction.first(_BODY, (item.workspace, item.decision_id))
    found = [
        _material(one)
        for correct in (0, 1)
        for one in transaction.all(_MATERIAL, (item.workspace, item.slice_key, correct, MATERIAL))
    ]
    return Beside(
        body=b"" if row is None else row[0],
        material=() if row is None else found,
        ids=ids_beside(transaction.all, item),
        is_taken=lambda one: is_taken(transaction.all, item.workspace, one),
    )


def ids_beside(fetch: Fetch, item: Review) -> list[str]:
    """Return the ids of the latest items of a slice."""
    return [
        row[0]
        for state in ("pending", "decided")
        for row in fetch(_IDS, (item.workspace, item.slice_key, state, IDS))
    ]


def is_taken(fetch: Fetch, workspace: str, one: str) -> bool:
    """Tell whether a decision or an item has this id."""
    return bool(fetch(_TAKEN, (workspace, one, workspace, one)))


def _material(row: Sequence[Any]) -> Material:
    return Material(
        decision_id=row[0],
        correct=bool(row[1]),
        body=row[2],
        answer=row[3],
        request=row[4],
        by=row[5],
    )
