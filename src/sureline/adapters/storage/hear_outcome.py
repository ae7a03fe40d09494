"""Writes an answer that is given outside the queue, and what it does to the item there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sureline.adapters.storage.late_words import kept_outcome
from sureline.adapters.storage.planted_outcomes import PLANTED_OUTCOMES_OF, planted_outcome_of
from sureline.adapters.storage.planted_step import answered_elsewhere
from sureline.adapters.storage.queued import own_review, put_reviews
from sureline.adapters.storage.record_outcome import (
    OUTCOMES_OF,
    RecordOutcome,
    recorded_before,
    stored_outcome,
)
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.reviews import Hear
from sureline.core.values.outcome import Outcome


@dataclass(frozen=True, slots=True)
class HearOutcome:
    """The job of writing one answer by what `hear` makes of it."""

    outcome: Outcome
    hear: Hear

    def __call__(self, transaction: Transaction) -> Outcome:
        """Write it and return it as written. Raises NotFound, Conflict and what `hear` raises."""
        outcome = self.outcome
        before = recorded_before(transaction, outcome, by_rule=True)
        if before is not None:
            return before
        named = (outcome.workspace, outcome.decision_id)
        item = own_review(transaction, *named)
        found = self.hear(item, _said(transaction, named))
        own = None if found.item is None else found.item.id
        for one in (*found.before, found.answer):
            RecordOutcome(one, but=own)(transaction)
        if found.item is not None and found.item != item:
            put_reviews(transaction, [(item, found.item)])
            if found.item.released:
                answered_elsewhere(transaction, found.item)
        return kept_outcome(transaction, found.answer)


def _said(transaction: Transaction, named: tuple[str, str]) -> Sequence[Outcome]:
    """Return what was said of a decision, or of a planted item, oldest first."""
    said = transaction.all(OUTCOMES_OF, named)
    if said:
        return [stored_outcome(row) for row in said]
    return [planted_outcome_of(row) for row in transaction.all(PLANTED_OUTCOMES_OF, named)]
