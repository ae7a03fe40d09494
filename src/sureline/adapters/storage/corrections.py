"""Notes what an answer turned: a notice into the outbox, and an incident (R14).

It is done in the transaction that writes the answer, so that neither is there without the other.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, bindparam, select

from sureline.adapters.storage import review_rows
from sureline.adapters.storage.incident_rows import PUT, incidents
from sureline.adapters.storage.moments import from_micros, to_micros
from sureline.adapters.storage.outbox_rows import put_notices
from sureline.adapters.storage.review_rows import review_of, reviews
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import decisions, outcomes
from sureline.adapters.storage.transaction import Transaction
from sureline.core.gate.answered import models_named
from sureline.core.review.correction import Answered, Correction, corrections, released_from
from sureline.core.review.incidents import Case, Closing, cases
from sureline.core.review.notice import corrected_notice
from sureline.core.values.decision import Route
from sureline.core.values.outcome import Action, OutcomeSource

DECIDED = (
    decisions.c.workspace,
    decisions.c.id,
    decisions.c.slice_key,
    decisions.c.route,
    decisions.c.submitted_by,
    decisions.c.policy_hash,
    decisions.c.body,
)
ANSWERED = (
    outcomes.c.seq,
    outcomes.c.id,
    outcomes.c.action,
    outcomes.c.correct,
    outcomes.c.source,
    outcomes.c.by,
    outcomes.c.recorded_at,
)
"""The columns of an answer, as `answer_of` reads them."""
OWN_ITEM = and_(reviews.c.workspace == decisions.c.workspace, reviews.c.id == decisions.c.id)
"""The item of the queue that a decision opened itself; a recall's has another id."""

_DECISION = compiled(
    select(*DECIDED, *review_rows.COLUMNS)
    .select_from(decisions.outerjoin(reviews, OWN_ITEM))
    .where(decisions.c.workspace == bindparam("workspace"), decisions.c.id == bindparam("id"))
)
_ANSWERS = compiled(
    select(*ANSWERED)
    .where(
        outcomes.c.workspace == bindparam("workspace"),
        outcomes.c.decision_id == bindparam("decision_id"),
        outcomes.c.correct.is_not(None),
    )
    .order_by(outcomes.c.seq)
)
_CLOSINGS = compiled(
    select(
        incidents.c.id,
        incidents.c.closed_mark,
        incidents.c.closed_at,
        incidents.c.closed_by,
        incidents.c.note,
    ).where(
        incidents.c.workspace == bindparam("workspace"),
        incidents.c.decision_id == bindparam("decision_id"),
        incidents.c.closed_mark.is_not(None),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """What of a decision its corrections are about."""

    workspace: str
    id: str
    slice_key: str
    route: str
    submitted_by: str | None
    policy: str
    body: bytes

    @classmethod
    def of(cls, row: Sequence[Any]) -> Decided:
        """Build the value from the columns `DECIDED`."""
        names = ("workspace", "id", "slice_key", "route", "submitted_by", "policy", "body")
        return cls(**dict(zip(names, row, strict=True)))


def note_correction(transaction: Transaction, workspace: str, decision_id: str, mark: int) -> None:
    """Note what the answer at the place `mark` turned, if it did."""
    row = transaction.first(_DECISION, (workspace, decision_id))
    assert row is not None
    decision, item = Decided.of(row[: len(DECIDED)]), row[len(DECIDED) :]
    answers = [answer_of(one) for one in transaction.all(_ANSWERS, (workspace, decision_id))]
    turned = turned_by(decision, item, answers)
    if not turned or turned[-1].answer.mark != mark:
        return
    told = corrected_notice(
        turned[-1],
        workspace=workspace,
        decision_id=decision_id,
        slice_key=decision.slice_key,
        submitted_by=decision.submitted_by,
    )
    put_notices(transaction, [told])
    closed = transaction.all(_CLOSINGS, (workspace, decision_id))
    transaction.run_many(PUT, incidents_by(decision, turned, dict(map(closing_of, closed)))[-1:])


def turned_by(
    decision: Decided, item: Sequence[Any], answers: Sequence[Answered]
) -> tuple[Correction, ...]:
    """Return the corrections of a decision; `item` is its own item's row, of nulls if none."""
    by_itself = decision.route == Route.AUTO_APPROVE
    review = None if by_itself or item[0] is None else review_of(item)
    start = released_from(decision.route, review, answers)
    return () if start is None else corrections(answers, start)


def incidents_by(
    decision: Decided, turned: Sequence[Correction], closings: Mapping[str, Closing]
) -> list[tuple[Any, ...]]:
    """Return a decision's incidents as rows, oldest first."""
    if not turned:
        return []
    body = lasting(decision.body)
    signals = body.get("signals", {}).values()
    models = models_named(one.get("detail", {}) for one in signals)
    rested_on = (body.get("certificate"), decision.policy, json.dumps(sorted(models)))
    found = cases(turned, closings, workspace=decision.workspace, decision_id=decision.id)
    return [_row(decision, one, rested_on) for one in found]


def lasting(body: bytes) -> dict[str, Any]:
    """Return a decision's lasting JSON; one that is damaged says nothing, and holds up no other."""
    try:
        found = json.loads(body)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def answer_of(row: Sequence[Any]) -> Answered:
    """Build an answer from the columns `ANSWERED`."""
    return Answered(
        mark=row[0],
        id=row[1],
        action=Action(row[2]),
        correct=bool(row[3]),
        source=OutcomeSource(row[4]),
        by=row[5],
        at=from_micros(row[6]),
    )


def closing_of(row: Sequence[Any]) -> tuple[str, Closing]:
    """Return an incident's id with who closed it, from id, mark, moment, name and note."""
    return row[0], Closing(mark=row[1], at=from_micros(row[2]), by=row[3], note=row[4])


def _row(decision: Decided, case: Case, rested_on: tuple[Any, ...]) -> tuple[Any, ...]:
    opened, closing = case.opened.answer, case.closing
    closed = (
        (None,) * 4
        if closing is None
        else (closing.mark, to_micros(closing.at), closing.by, closing.note)
    )
    return (
        decision.workspace,
        case.id,
        decision.id,
        decision.slice_key,
        opened.id,
        opened.mark,
        to_micros(opened.at),
        opened.source.value,
        *rested_on,
        int(case.stands),
        *closed,
    )
