"""Verdicts from other surfaces: signed, done once, answered at once (R9, R12)."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import Any

from sureline.application.ports.inbound import StoredReply
from sureline.application.review.inbound import Taken
from sureline.core.canonical import canonical_json, json_bytes
from sureline.core.values.inbound import InboundVerdict
from sureline.core.values.outcome import Action
from sureline.core.values.review import Review
from sureline.errors import InvalidInput, NotSigned, SurelineError
from sureline.web.api.inbound_shapes import InboundFields, InboundShape, InWorkShape
from sureline.web.operation import Answer, Call, Operation
from sureline.web.problems import PROBLEM, problem_of
from sureline.web.reply import JSON, Reply

logger = logging.getLogger(__name__)

IN_WORK = {"state": "in_work"}
REPEATED = ((b"sureline-repeated", b"true"),)
"""Says that this delivery did nothing: it is the answer to the first one."""

_CODE = re.compile(r"[a-z][a-z0-9_]{0,59}\Z")


async def receive(call: Call) -> Reply:
    """Verify a delivery, read it, and do what it says unless that was done."""
    services = call.context.services
    if call.signed is None:
        raise NotSigned
    source = await services.inbound.admit(call.params["source"], call.signed)
    raw = await call.context.bodies.read(call.headers, call.signed.body)
    said = _said(OPERATION.read(raw))
    content = canonical_json(raw)
    taken = await services.inbound.take(source, call.signed.id, said, content)
    if taken.standing.reply is not None:
        return _reply(taken.standing.reply, repeated=True)
    if taken.standing.in_work:
        return Reply.json(IN_WORK, status=202)
    work = services.inbound.act(taken, lambda done: _written(done, taken))
    return await _answered_in_time(call, asyncio.create_task(work))


async def _answered_in_time(call: Call, task: asyncio.Task[StoredReply]) -> Reply:
    """Return the answer, or that it is in work: chats send again what is not answered at once."""
    under_way = call.context.under_way
    under_way.add(task)
    task.add_done_callback(under_way.discard)
    await asyncio.wait({task}, timeout=call.context.settings.ack_seconds)
    if task.done():
        return _reply(await task, repeated=False)
    task.add_done_callback(_log_failure)
    return Reply.json(IN_WORK, status=202)


def _log_failure(task: asyncio.Task[StoredReply]) -> None:
    """Say of work whose sender was answered before that it failed; sent again, it is done."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        logger.warning("inbound: a delivery could not be worked on (%s)", type(error).__name__)


def _said(fields: dict[str, Any]) -> InboundVerdict:
    if ("output" in fields) != (fields["action"] == Action.EDIT):
        raise InvalidInput(
            "an edit needs the output as it shall be, nothing else has one", field="output"
        )
    given = dict(fields)
    reason = given.pop("reason", None)
    is_code = reason is not None and _CODE.match(reason) is not None
    return InboundVerdict(
        action=Action(given.pop("action")),
        reason=reason if is_code else None,
        comment=None if is_code else reason,
        **given,
    )


def _written(done: Review | SurelineError, taken: Taken) -> tuple[int, bytes]:
    if isinstance(done, SurelineError):
        problem = problem_of(done)
        return problem.status, problem.body
    body = {
        "review_id": done.id,
        "decision_id": done.decision_id,
        "state": done.state,
        "action": taken.said.action,
        "by": taken.speaker.identity,
        "digest": done.digest,
        "version": done.version,
        "level": done.level,
        "approvals": list(done.approvals),
        "approvals_needed": done.rules.approvals,
        "release_at": None if done.release_at is None else done.release_at.isoformat(),
    }
    return 200, json_bytes(body)


def _reply(stored: StoredReply, *, repeated: bool) -> Reply:
    return Reply(
        body=stored.body,
        status=stored.status,
        media_type=JSON if stored.acted else PROBLEM,
        headers=REPEATED if repeated else (),
    )


OPERATION = Operation(
    method="POST",
    path="/v1/inbound/{source}",
    name="receiveVerdict",
    about="Take a verdict that somebody gave on another surface. It needs no key: the source that "
    "hands it on signs it as Standard Webhooks says, over the bytes as they are sent. Sent again "
    "under the same id, or with the same body under another, it does nothing and gets the same "
    "answer.",
    run=receive,
    body=InboundFields,
    signed=True,
    answers={
        200: Answer("How the item stands now.", InboundShape),
        202: Answer("It is being worked on; send it again for the answer.", InWorkShape),
    },
    problems=frozenset({403, 404, 409}),
)
OPERATIONS = (OPERATION,)
