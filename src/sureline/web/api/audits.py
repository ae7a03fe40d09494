"""What auditors are to look at (G23); their answers come in as outcomes."""

from __future__ import annotations

from typing import Any

from typing_extensions import TypedDict

from sureline.application.ports.keys import Role
from sureline.errors import InvalidInput, NotFound
from sureline.web.api.decisions import own_decision
from sureline.web.api.shapes import Moment
from sureline.web.operation import Answer, Call, Operation, QueryNumber
from sureline.web.reply import Reply

_ANSWERERS = frozenset({Role.REVIEWER, Role.ADMIN})
LIMIT = QueryNumber(
    name="limit", about="How many to return at most.", default=50.0, least=1.0, most=1_000.0
)


class DueAuditShape(TypedDict):
    """An automated decision that was drawn for the audit and has no audit label yet."""

    decision_id: str
    slice_key: str
    decided_at: Moment


class DueAuditsShape(TypedDict):
    """Audits that wait longest, mixed up, so that no answer suggests the next."""

    due: list[DueAuditShape]


class SourceShape(TypedDict):
    """A document that the output was made from."""

    ref: str
    text: str


class AuditItemShape(TypedDict):
    """What an auditor sees: nothing of the gate's own view, nor of the generator's."""

    decision_id: str
    slice_key: str
    decided_at: Moment
    task: str
    source: list[SourceShape]
    output: Any


async def due(call: Call) -> Reply:
    """Return what is due in the slices that the key may see."""
    auditor, limit = call.context.services.auditor, int(LIMIT.read(call))
    found = [
        one
        for slice_key in call.key.slices or (None,)
        for one in await auditor.due(slice_key, limit=limit)
    ]
    return Reply.json(
        {
            "due": [
                {
                    "decision_id": one.decision_id,
                    "slice_key": one.slice_key,
                    "decided_at": one.decided_at.isoformat(),
                }
                for one in found[:limit]
            ]
        }
    )


async def show(call: Call) -> Reply:
    """Return one item as an auditor is to see it."""
    stored = await own_decision(call)
    try:
        item = await call.context.services.auditor.show(stored.id)
    except InvalidInput as error:
        raise NotFound(error.message) from error
    return Reply.json(
        {
            "decision_id": item.decision_id,
            "slice_key": item.slice_key,
            "decided_at": item.decided_at.isoformat(),
            "task": item.task,
            "source": [{"ref": ref, "text": text} for ref, text in item.source],
            "output": item.output,
        }
    )


OPERATIONS = (
    Operation(
        method="GET",
        path="/v1/audits",
        name="listAudits",
        about="Return automated decisions that were drawn for the audit and wait for a label. "
        "Answer with `POST /v1/outcomes`, `source` `audit`.",
        run=due,
        roles=_ANSWERERS,
        query=(LIMIT,),
        answers={200: Answer("What is due.", DueAuditsShape)},
        problems=frozenset({422}),
    ),
    Operation(
        method="GET",
        path="/v1/audits/{id}",
        name="showAudit",
        about="Return task, source and output of an audited decision, without the gate's view.",
        run=show,
        roles=_ANSWERERS,
        answers={200: Answer("What the auditor is to judge.", AuditItemShape)},
        problems=frozenset({404}),
    ),
)
