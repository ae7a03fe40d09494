"""Makes incidents anew from answers and from what admins closed, and compares them with those."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from sqlalchemy import and_, delete, exists, literal_column, select

from sureline.adapters.storage import review_rows
from sureline.adapters.storage.corrections import (
    ANSWERED,
    DECIDED,
    OWN_ITEM,
    Decided,
    answer_of,
    closing_of,
    incidents_by,
    turned_by,
)
from sureline.adapters.storage.incident_rows import COLUMNS, PUT, incidents
from sureline.adapters.storage.review_rows import reviews
from sureline.adapters.storage.statement import Statement, compiled
from sureline.adapters.storage.tables import activations, decisions, outcomes
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.incidents import CLOSED
from sureline.core.derived_verification import TableComparison, TableReport
from sureline.core.review.incidents import Closing
from sureline.errors import StoreCorrupt

Each = Callable[[Statement, Sequence[Any]], Iterable[tuple[Any, ...]]]

_wrong = outcomes.alias("wrong")
_ANSWERS = compiled(
    select(*DECIDED, *ANSWERED, *review_rows.COLUMNS)
    .select_from(
        outcomes.join(
            decisions,
            and_(
                decisions.c.workspace == outcomes.c.workspace,
                decisions.c.id == outcomes.c.decision_id,
            ),
        ).outerjoin(reviews, OWN_ITEM)
    )
    .where(
        outcomes.c.correct.is_not(None),
        # Without anybody who called it wrong there is no incident: most decisions have none.
        exists().where(
            _wrong.c.workspace == outcomes.c.workspace,
            _wrong.c.decision_id == outcomes.c.decision_id,
            _wrong.c.correct == literal_column("0"),
        ),
    )
    .order_by(outcomes.c.workspace, outcomes.c.decision_id, outcomes.c.seq)
)
_CLOSINGS = compiled(
    select(
        activations.c.subject,
        activations.c.seq,
        activations.c.at,
        activations.c.by,
        activations.c.note,
    )
    .where(activations.c.subject_kind == literal_column(f"'{CLOSED}'"))
    .order_by(activations.c.seq.desc())  # the first closing is the one that holds
)
_STORED = compiled(select(*COLUMNS).order_by(incidents.c.workspace, incidents.c.id))
_EMPTY = compiled(delete(incidents))


def rebuild_incidents(transaction: Transaction) -> None:
    """Replace all incidents by what follows from the ledger and the queue."""
    rows = list(_expected(transaction.each))
    transaction.run(_EMPTY)
    transaction.run_many(PUT, rows)


def compare_incidents(each: Each) -> TableReport:
    """Return how the incidents compare; memory grows with them, not with decisions."""
    comparison = TableComparison(incidents.name)
    expected = {row[:2]: tuple(row[2:]) for row in _expected(each)}
    for stored in each(_STORED, ()):
        key = tuple(stored[:2])
        comparison.add(key, tuple(stored[2:]), expected.pop(key, None))
    for key, row in expected.items():
        comparison.add(key, None, row)
    return comparison.report()


def _expected(each: Each) -> Iterator[tuple[Any, ...]]:
    closings: dict[str, Closing] = dict(map(closing_of, each(_CLOSINGS, ())))
    size, end = len(DECIDED), len(DECIDED) + len(ANSWERED)
    for _, rows in groupby(each(_ANSWERS, ()), key=lambda row: row[:2]):
        listed = list(rows)
        decision = Decided.of(listed[0][:size])
        answers = [answer_of(row[size:end]) for row in listed]
        try:
            turned = turned_by(decision, listed[0][end:], answers)
        except StoreCorrupt:  # nothing was released of an item that nobody can read
            continue
        yield from incidents_by(decision, turned, closings)
