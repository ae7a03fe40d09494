"""Put a planted item into the queue, with a line like any other's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.line_rows import put_lines
from sureline.adapters.storage.planted_rows import planted
from sureline.adapters.storage.planting_material import is_taken
from sureline.adapters.storage.queued import put_reviews
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.stored_decisions import BY_ID, stored_decision
from sureline.adapters.storage.transaction import Transaction
from sureline.core.review.honeypot import Planted
from sureline.core.review.line import line_of
from sureline.core.values.finding import Finding
from sureline.core.values.review_line import ReviewLine

_PLACE = compiled(upsert(planted).on_conflict_do_nothing())


def place(transaction: Transaction, one: Planted) -> bool:
    """Put a planted item into the queue; False if its trigger has one, or its id is taken."""
    if is_taken(transaction.all, one.review.workspace, one.review.id):
        return False
    correct = None if one.first_correct is None else int(one.first_correct)
    row = (
        one.review.workspace,
        one.review.id,
        one.purpose.value,
        one.source_id,
        one.origin,
        one.trigger,
        one.body,
        one.answer,
        one.first_by,
        correct,
    )
    if not transaction.run(_PLACE, row):
        return False
    put_reviews(transaction, [(None, one.review)])
    put_lines(transaction, [(one.review, _line(transaction, one))])
    return True


def _line(transaction: Transaction, one: Planted) -> ReviewLine:
    """Return the line of a planted item: as another item with this task and these reasons has."""
    source = transaction.first(BY_ID, (one.review.workspace, one.source_id))
    request = None if source is None else stored_decision(source).request
    task = "" if request is None else str(json.loads(request)["task"])
    body = json.loads(one.body)
    answer = one.answer or (None if source is None else stored_decision(source).answer)
    return line_of(
        one.review,
        task,
        (str(reason["code"]) for reason in body["reasons"]),
        findings=_findings({} if answer is None else json.loads(answer)),
        confidence=body.get("confidence"),
    )


def _findings(answer: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield what the checks and then other signals found, as the item's page shows it."""
    said = [one for of_signal in answer.get("findings", {}).values() for one in of_signal]
    for one in [*answer.get("feedback", ()), *said]:
        yield Finding(
            code=one["code"],
            message=one["message"],
            field=one["field"],
            fatal=one["fatal"],
            penalty=round(one["penalty"] * 1000),
        )
