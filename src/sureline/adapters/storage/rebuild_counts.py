"""Makes labels and counts anew from the ledger alone."""

from __future__ import annotations

from typing import Any

from sqlalchemy import and_, delete, func, literal_column, select

from sureline.adapters.storage.append_decision import ADD_ROUTES, ADD_SCORES
from sureline.adapters.storage.count_opinions import ADD_OPINIONS, DAY, opinions_by_ledger
from sureline.adapters.storage.count_tables import (
    label_counts,
    labels,
    opinion_counts,
    route_counts,
    score_counts,
)
from sureline.adapters.storage.labels import LABELLED, GivenLabel, labelled, set_label
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import decisions, outcomes
from sureline.adapters.storage.transaction import Transaction
from sureline.core.values.outcome import OutcomeSource

_EMPTY = tuple(
    compiled(delete(table))
    for table in (labels, label_counts, route_counts, score_counts, opinion_counts)
)
_LABELS = compiled(
    select(outcomes.c.source, outcomes.c.anchored, outcomes.c.correct, outcomes.c.seq, *LABELLED)
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
WEEK = (DAY + literal_column("3")) // literal_column("7")
"""The week number of a decision, as core/values/periods.py has it."""
_ROUTES = compiled(
    select(
        decisions.c.workspace,
        decisions.c.slice_key,
        DAY,
        decisions.c.route,
        decisions.c.stream,
        func.count(),
    ).group_by(
        decisions.c.workspace,
        decisions.c.slice_key,
        DAY,
        decisions.c.route,
        decisions.c.stream,
    )
)
_SCORED = (
    decisions.c.workspace,
    decisions.c.slice_key,
    decisions.c.measurement_hash,
    WEEK,
    decisions.c.score_bin,
    decisions.c.stream,
)
_SCORES = compiled(
    select(*_SCORED, func.count()).where(decisions.c.score_bin.is_not(None)).group_by(*_SCORED)
)


def rebuild_counts(transaction: Transaction) -> None:
    """Replace labels and all counts by what the ledger says."""
    for statement in _EMPTY:
        transaction.run(statement)
    transaction.run_many(ADD_ROUTES, transaction.all(_ROUTES))
    transaction.run_many(ADD_SCORES, transaction.all(_SCORES))
    transaction.run_many(ADD_OPINIONS, opinions_by_ledger(transaction.each).rows())
    for row in transaction.all(_LABELS):
        _apply(transaction, row)


def _apply(transaction: Transaction, row: tuple[Any, ...]) -> None:
    source, anchored, correct, mark, *decision = row
    label = GivenLabel(
        decision=labelled(tuple(decision)),
        source=OutcomeSource(source),
        anchored=bool(anchored),
        correct=bool(correct),
        mark=mark,
    )
    set_label(transaction, label)
