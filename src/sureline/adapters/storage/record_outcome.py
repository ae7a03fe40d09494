"""Writes outcomes and what follows from them, and reads them back."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import and_, bindparam, select

from sureline.adapters.storage.append_decision import INSERT_PAYLOAD, SALT_BYTES
from sureline.adapters.storage.corrections import note_correction
from sureline.adapters.storage.labels import BY_DECISION, GivenLabel, labelled, set_label
from sureline.adapters.storage.late_words import kept_outcome
from sureline.adapters.storage.moments import from_micros, to_micros
from sureline.adapters.storage.planted_outcomes import keep_planted_outcome, planted_outcome
from sureline.adapters.storage.planted_step import is_planted
from sureline.adapters.storage.queued import close_reviews
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import outcomes, payloads
from sureline.adapters.storage.transaction import Transaction
from sureline.core.chain import FieldValue, payload_digest
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.errors import Conflict, NotFound

_COLUMNS = (
    outcomes.c.id,
    outcomes.c.workspace,
    outcomes.c.decision_id,
    outcomes.c.action,
    outcomes.c.correct,
    outcomes.c.source,
    outcomes.c.by,
    outcomes.c.anchored,
    outcomes.c.recorded_at,
    outcomes.c.edited_fields,
    outcomes.c.payload_digest,
    payloads.c.answer,
    payloads.c.request,
    outcomes.c.content,
)
_STORED = select(*_COLUMNS).select_from(
    outcomes.outerjoin(
        payloads,
        and_(payloads.c.stream == outcomes.c.stream, payloads.c.seq == outcomes.c.seq),
    )
)
OUTCOMES_OF = compiled(
    _STORED.where(
        outcomes.c.workspace == bindparam("workspace"),
        outcomes.c.decision_id == bindparam("decision_id"),
    ).order_by(outcomes.c.seq)
)
"""A decision's outcomes, oldest first."""

_BY_ID = compiled(
    _STORED.where(outcomes.c.workspace == bindparam("workspace"), outcomes.c.id == bindparam("id"))
)


def stored_outcome(row: tuple[Any, ...]) -> Outcome:
    """Build the value from a row of `OUTCOMES_OF`; an erased comment is None."""
    return Outcome(
        id=row[0],
        workspace=row[1],
        decision_id=row[2],
        action=Action(row[3]),
        correct=None if row[4] is None else bool(row[4]),
        source=OutcomeSource(row[5]),
        by=row[6],
        anchored=bool(row[7]),
        recorded_at=from_micros(row[8]),
        edited_fields=tuple(json.loads(row[9])),
        comment=row[11].decode("utf-8") if row[11] else None,
        edited=row[12] or None,
        content=row[13],
    )


@dataclass(frozen=True, slots=True)
class RecordOutcome:
    """The job of writing one outcome with its label and count.

    `but` is an item of the queue that whoever writes it changes themselves.
    """

    outcome: Outcome
    but: str | None = None

    def __call__(self, transaction: Transaction) -> bool:
        """Write it; False if it is there already. Raises NotFound, Conflict."""
        outcome = kept_outcome(transaction, self.outcome)
        if recorded_before(transaction, outcome) is not None:
            return False
        found = transaction.first(BY_DECISION, (outcome.workspace, outcome.decision_id))
        if found is None:
            if not is_planted(transaction, outcome.workspace, outcome.decision_id):
                raise NotFound(f"there is no decision {outcome.decision_id!r} in this workspace")
            # Whoever records it must not learn that it is no label (R7).
            keep_planted_outcome(transaction, outcome)
            close_reviews(transaction, outcome, but=self.but)
            return True
        mark = _insert(transaction, outcome)
        if outcome.correct is not None:
            label = GivenLabel(
                decision=labelled(found),
                source=outcome.source,
                anchored=outcome.anchored,
                correct=outcome.correct,
                mark=mark,
            )
            set_label(transaction, label)
            note_correction(transaction, outcome.workspace, outcome.decision_id, mark)
        close_reviews(transaction, outcome, but=self.but)
        return True


def recorded_before(
    transaction: Transaction, outcome: Outcome, *, by_rule: bool = False
) -> Outcome | None:
    """Return what was recorded under an outcome's id. Raises Conflict if it said something else.

    With `by_rule` what the rules made of it may differ: whether it is a label, and of what content.
    """
    outcome = kept_outcome(transaction, outcome)
    existing = transaction.first(_BY_ID, (outcome.workspace, outcome.id))
    before = (
        planted_outcome(transaction, outcome.workspace, outcome.id)
        if existing is None
        else stored_outcome(existing)
    )
    if before is None:
        return None
    if by_rule:
        outcome = replace(outcome, correct=before.correct, content=before.content)
    if _content(before) != _content(outcome, existing):
        raise Conflict(f"outcome {outcome.id!r} was recorded before with other content")
    return replace(before, words_erased=outcome.words_erased)


def _content(outcome: Outcome, existing: tuple[Any, ...] | None = None) -> tuple[Any, ...]:
    """Return what must be equal for the same outcome: not when it was recorded.

    A comment that was erased since cannot be compared any more.
    """
    erased = existing is not None and existing[10] is not None and existing[11] is None
    return (
        outcome.decision_id,
        outcome.action,
        outcome.correct,
        outcome.source,
        outcome.by,
        outcome.anchored,
        outcome.edited_fields,
        outcome.content,
        None if erased else outcome.comment,
        None if erased else outcome.edited,
    )


def fields_of(outcome: Outcome) -> dict[str, FieldValue]:
    """Return the columns that the chain covers as fields."""
    return {
        "workspace": outcome.workspace,
        "id": outcome.id,
        "decision_id": outcome.decision_id,
        "action": str(outcome.action),
        "correct": None if outcome.correct is None else int(outcome.correct),
        "source": str(outcome.source),
        "by": outcome.by,
        "anchored": int(outcome.anchored),
        "recorded_at": to_micros(outcome.recorded_at),
        "edited_fields": _listed(outcome.edited_fields),
        "content": outcome.content,
    }


def _listed(names: Sequence[str]) -> str:
    """Write names as JSON; most outcomes have none, and an encoder is slow to make."""
    return json.dumps(names, ensure_ascii=False) if names else "[]"


def _insert(transaction: Transaction, outcome: Outcome) -> int:
    fields = fields_of(outcome)
    if not outcome.comment and outcome.edited is None:
        return transaction.chain("outcome", fields).seq
    salt, comment = os.urandom(SALT_BYTES), (outcome.comment or "").encode("utf-8")
    edited = outcome.edited or b""
    digest = payload_digest(salt, comment, edited)
    head = transaction.chain("outcome", fields, payload_digest=digest)
    stream = transaction.stream_of("outcome")
    row = (stream, head.seq, outcome.workspace, salt, comment, edited)
    transaction.insert(INSERT_PAYLOAD, [row])
    return head.seq
