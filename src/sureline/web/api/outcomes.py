"""Record what people said, and wait for it."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.types import Receive

from sureline.application.audit import is_drawn
from sureline.application.label import GivenAnswer
from sureline.application.ports.keys import Role
from sureline.application.review.reviewed import APPROVING, Reviewed
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.core.values.person import same_person
from sureline.errors import Forbidden
from sureline.web.api.decisions import decision_of, own_decision
from sureline.web.api.shapes import OutcomeFields, OutcomeShape, ReviewShape
from sureline.web.faults import ClientGone
from sureline.web.operation import ALL_ROLES, Answer, Call, Operation, QueryNumber
from sureline.web.reply import Reply

_REVIEWED = frozenset({OutcomeSource.REVIEW, OutcomeSource.AUDIT})
_LABELLERS = frozenset({Role.REVIEWER, Role.ADMIN})
WAIT = QueryNumber(
    name="wait",
    about="Seconds to wait for an answer before saying that there is none yet.",
    default=0.0,
    least=0.0,
    most=60.0,
)


async def record(call: Call) -> Reply:
    """Append an outcome; agents never reach this (G34)."""
    fields = dict(call.body)
    source = OutcomeSource(fields.pop("source", OutcomeSource.REVIEW))
    if call.key.role is Role.REVIEWER and source not in _REVIEWED:
        raise Forbidden(f"a reviewer's key records reviews and audits; {source} takes an admin key")
    stored = await decision_of(call, fields["decision_id"])
    if call.key.role is Role.REVIEWER and source is OutcomeSource.AUDIT and not is_drawn(stored):
        raise Forbidden(
            "this decision was not drawn for the audit, so its audit takes an admin key"
        )
    said_by = {call.key.name, fields.get("by", call.key.name)}
    approves = Action(fields["action"]) in APPROVING
    if approves and any(same_person(stored.submitted_by, one) for one in said_by):
        raise Forbidden("nobody approves their own proposal; somebody else must")
    if call.key.role is Role.REVIEWER:
        fields["by"] = call.key.name  # a reviewer answers in no other name (R12)
        # Who has looked at it here has seen the output, unless they answered before that.
        own = await call.context.services.answer_first.own(stored.id, call.key.name)
        fields["anchored"] = own is None
    fields.setdefault("by", call.key.name)
    fields["edited_fields"] = tuple(fields.get("edited_fields", ()))
    answer = GivenAnswer(source=source, **fields)
    outcome = await call.context.services.labeller.record(stored.workspace, answer)
    return Reply.json(outcome_json(outcome), status=201)


async def review(call: Call) -> Reply:
    """Return the newest answer, waiting for it if asked to."""
    stored = await own_decision(call)
    seconds = min(WAIT.read(call), call.context.settings.longest_wait)
    with call.context.waiting:
        found = await _answer(call, stored.id, seconds)
    if found is None or not found.is_over:
        state = "pending"
    else:
        state = "superseded" if found.outcome is None else "answered"
    outcome = None if found is None or found.outcome is None else outcome_json(found.outcome)
    return Reply.json({"decision_id": stored.id, "state": state, "outcome": outcome})


async def _answer(call: Call, decision_id: str, seconds: float) -> Reviewed | None:
    """Wait for the answer, for the caller to hang up, or for the server to stop."""
    context = call.context
    waiting = context.services.waiter.wait(call.key.workspace, decision_id, seconds)
    if seconds == 0.0:
        return await waiting
    answered = asyncio.ensure_future(waiting)
    gone = asyncio.ensure_future(_until_gone(call.receive))
    closing = asyncio.ensure_future(context.closing.wait())
    tasks: set[asyncio.Future[Any]] = {answered, gone, closing}
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if answered in done:
            return answered.result()
        if gone in done:
            raise ClientGone
        return None
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as JSON values."""
    return {
        "id": outcome.id,
        "decision_id": outcome.decision_id,
        "action": outcome.action,
        "correct": outcome.correct,
        "source": outcome.source,
        "by": outcome.by,
        "anchored": outcome.anchored,
        "recorded_at": outcome.recorded_at.isoformat(),
        "comment": outcome.comment,
        "edited_fields": list(outcome.edited_fields),
        "words_erased": outcome.words_erased,
    }


OPERATIONS = (
    Operation(
        method="POST",
        path="/v1/outcomes",
        name="recordOutcome",
        about="Record what a person did with an output, or what became of it later. Reviewer keys "
        "record reviews, and audits of what was drawn for them; admin keys every source.",
        run=record,
        roles=_LABELLERS,
        body=OutcomeFields,
        answers={201: Answer("The outcome as recorded.", OutcomeShape)},
        problems=frozenset({404, 409}),
    ),
    Operation(
        method="GET",
        path="/v1/decisions/{id}/review",
        name="awaitReview",
        about="Return a person's answer to an output, waiting up to `wait` seconds for it.",
        run=review,
        roles=ALL_ROLES,
        query=(WAIT,),
        answers={200: Answer("The answer, or that there is none yet.", ReviewShape)},
        problems=frozenset({404, 422}),
    ),
)
