"""Makes labels and counts anew from the ledger alone."""

from __future__ import annotations

from typing import Any

from sqlalchemy import and_, delete, func, select

from sureline.adapters.storage.append_decision import ADD_ROUTES
from sureline.adapters.storage.labels import LABELLED, labelled, set_label
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import (
    decisions,
    label_counts,
    labels,
    outcomes,
    route_counts,
)
from sureline.adapters.storage.transaction import Transaction
from sureline.core.values.outcome import OutcomeSource

_EMPTY = tuple(compiled(delete(table)) for table in (labels, label_counts, route_counts))
_LABELS = compiled(
    select(outcomes.c.source, outcomes.c.correct, outcomes.c.seq, *LABELLED)
    .select_from(
        outcomes.join(
            decisions,
            and_(
                decisions.c.workspace == outcomes.c.workspace,
                decisions.c.id == outcomes.c.decision_id,
            ),
        )
    )
    .where(outcomes.c.correct.is_not(None))
    .order_by(outcomes.c.seq)
)
_ROUTES = compiled(
    select(
        decisions.c.workspace,
        decisions.c.slice_key,
        decisions.c.route,
        decisions.c.stream,
        func.count(),
    ).group_by(decisions.c.workspace, decisions.c.slice_key, decisions.c.route, decisions.c.stream)
)


def rebuild_counts(transaction: Transaction) -> None:
    """Replace labels, label counts and route counts by what the ledger says."""
    for statement in _EMPTY:
        transaction.run(statement)
    transaction.run_many(ADD_ROUTES, transaction.all(_ROUTES))
    for row in transaction.all(_LABELS):
        _apply(transaction, row)


def _apply(transaction: Transaction, row: tuple[Any, ...]) -> None:
    source, correct, mark, *decision = row
    set_label(
        transaction,
        labelled(tuple(decision)),
        source=OutcomeSource(source),
        correct=bool(correct),
        mark=mark,
    )
