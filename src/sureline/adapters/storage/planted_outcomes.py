"""What would be the outcomes of planted items: kept apart, read back like any other's (R7).

A reviewer who records or reads an outcome must not learn from the answer that an item is planted.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import bindparam, func, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.moments import from_micros, to_micros
from sureline.adapters.storage.planted_rows import planted_outcomes
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.transaction import Transaction
from sureline.core.canonical import json_bytes
from sureline.core.values.outcome import Action, Outcome, OutcomeSource

_KEEP = compiled(upsert(planted_outcomes).on_conflict_do_nothing())
_COUNT = compiled(
    select(func.count()).where(
        planted_outcomes.c.workspace == bindparam("workspace"),
        planted_outcomes.c.review_id == bindparam("review_id"),
    )
)
_BY_ID = compiled(
    select(planted_outcomes.c.body).where(
        planted_outcomes.c.workspace == bindparam("workspace"),
        planted_outcomes.c.id == bindparam("id"),
    )
)
PLANTED_OUTCOMES_OF = compiled(
    select(planted_outcomes.c.body)
    .where(
        planted_outcomes.c.workspace == bindparam("workspace"),
        planted_outcomes.c.review_id == bindparam("review_id"),
    )
    .order_by(planted_outcomes.c.place)
)
"""A planted item's outcomes, oldest first."""
_REWRITE = compiled(
    update(planted_outcomes)
    .values(body=bindparam("new_body"))
    .where(
        planted_outcomes.c.workspace == bindparam("of_workspace"),
        planted_outcomes.c.id == bindparam("of_id"),
    )
)


def keep_planted_outcome(transaction: Transaction, outcome: Outcome) -> None:
    """Keep an outcome of a planted item; one that is there already stays as it is."""
    named = (outcome.workspace, outcome.decision_id)
    (place,) = transaction.all(_COUNT, named)[0]
    row = (outcome.workspace, outcome.id, outcome.decision_id, place, _body(outcome))
    transaction.run(_KEEP, row)


def planted_outcome(transaction: Transaction, workspace: str, outcome_id: str) -> Outcome | None:
    """Return what is kept under an outcome's id, or None."""
    found = transaction.first(_BY_ID, (workspace, outcome_id))
    return None if found is None else planted_outcome_of(found)


def forget_planted_outcomes(transaction: Transaction, workspace: str, review_id: str) -> None:
    """Delete the words and the edits in what was said of an item whose payload is erased."""
    for row in transaction.all(PLANTED_OUTCOMES_OF, (workspace, review_id)):
        bare = replace(planted_outcome_of(row), comment=None, edited=None)
        transaction.run(_REWRITE, (_body(bare), workspace, bare.id))


def planted_outcome_of(row: Sequence[Any]) -> Outcome:
    """Build the value from a row of `PLANTED_OUTCOMES_OF`."""
    said = json.loads(row[0])
    edited = said["edited"]
    return Outcome(
        **{
            **said,
            "action": Action(said["action"]),
            "source": OutcomeSource(said["source"]),
            "recorded_at": from_micros(said["recorded_at"]),
            "edited_fields": tuple(said["edited_fields"]),
            "edited": None if edited is None else edited.encode("utf-8"),
        }
    )


def _body(outcome: Outcome) -> bytes:
    return json_bytes(
        {
            "id": outcome.id,
            "workspace": outcome.workspace,
            "decision_id": outcome.decision_id,
            "action": outcome.action.value,
            "correct": outcome.correct,
            "source": outcome.source.value,
            "by": outcome.by,
            "anchored": outcome.anchored,
            "recorded_at": to_micros(outcome.recorded_at),
            "comment": outcome.comment,
            "edited_fields": list(outcome.edited_fields),
            "content": outcome.content,
            "edited": None if outcome.edited is None else outcome.edited.decode("utf-8"),
        }
    )
