"""Words about a decision that is erased: none are kept, and what earlier versions kept goes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sqlalchemy import and_, bindparam, exists, literal_column, select

from sureline.adapters.storage.database import Fetch
from sureline.adapters.storage.planted_rows import planted
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import decisions, outcomes, payloads
from sureline.adapters.storage.transaction import Transaction
from sureline.core.values.outcome import Outcome
from sureline.core.values.review import Review

_OWN = and_(payloads.c.stream == decisions.c.stream, payloads.c.seq == decisions.c.seq)
_PAYLOAD = compiled(
    select(payloads.c.seq)
    .select_from(decisions.outerjoin(payloads, _OWN))
    .where(decisions.c.workspace == bindparam("workspace"), decisions.c.id == bindparam("id"))
)
_SOURCE = compiled(
    select(planted.c.source_id).where(
        planted.c.workspace == bindparam("workspace"), planted.c.review_id == bindparam("id")
    )
)
_said = payloads.alias("said")
_LATE = compiled(
    select(decisions.c.id)
    .select_from(
        _said.join(
            outcomes, and_(outcomes.c.stream == _said.c.stream, outcomes.c.seq == _said.c.seq)
        ).join(
            decisions,
            and_(
                decisions.c.workspace == outcomes.c.workspace,
                decisions.c.id == outcomes.c.decision_id,
            ),
        )
    )
    .where(
        outcomes.c.workspace == bindparam("workspace"),
        ~exists(select(literal_column("1")).select_from(payloads).where(_OWN).correlate(decisions)),
    )
    .distinct()
    .limit(bindparam("limit"))
    .offset(literal_column("0"))
)


def is_erased(transaction: Transaction, workspace: str, decision_id: str) -> bool:
    """Tell whether what a decision quoted is erased, or what a planted item shows.

    Under the write lock, so that an erasure has been seen or will see what is written now.
    """
    found = transaction.first(_PAYLOAD, (workspace, decision_id))
    if found is None:
        source = transaction.first(_SOURCE, (workspace, decision_id))
        found = None if source is None else transaction.first(_PAYLOAD, (workspace, source[0]))
    return found is not None and found[0] is None


def kept_outcome(transaction: Transaction, outcome: Outcome) -> Outcome:
    """Return an outcome as it is kept: the answer counts, its words about what is erased go."""
    if not outcome.comment and outcome.edited is None:
        return outcome
    if not is_erased(transaction, outcome.workspace, outcome.decision_id):
        return outcome
    return replace(outcome, comment=None, edited=None, words_erased=True)


def kept_review(transaction: Transaction, item: Review) -> Review:
    """Return an item as it is kept: without words about what is erased."""
    if not any(one.comment or one.edited is not None for one in item.given):
        return item
    if not is_erased(transaction, item.workspace, item.decision_id):
        return item
    return replace(item, given=tuple(replace(one, edited=None, comment=None) for one in item.given))


def late_words(fetch: Fetch, workspace: str, limit: int) -> list[str]:
    """Return erased decisions of which words are kept that came later."""
    rows: list[tuple[Any, ...]] = fetch(_LATE, (workspace, limit))
    return [row[0] for row in rows]
