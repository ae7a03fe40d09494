"""Decide, read a decision, use an approval: what agents call."""

from __future__ import annotations

import logging

from sureline.application.answer import Answer as Decided
from sureline.application.encode import splice
from sureline.application.intake import ProposalFields, read_proposal
from sureline.application.ports.keys import ApiKey, Role
from sureline.application.ports.ledger import StoredDecision
from sureline.core.values.decision import Decision
from sureline.errors import NotFound, PolicyError
from sureline.web.access import check_slice
from sureline.web.api.review_shapes import ConsumedShape, ConsumeFields
from sureline.web.api.shapes import DecisionShape
from sureline.web.faults import NotReady
from sureline.web.operation import ALL_ROLES, Answer, Call, Operation
from sureline.web.reply import Reply

logger = logging.getLogger("sureline.decisions")

_SUBMITTERS = frozenset({Role.AGENT, Role.ADMIN})


async def decide(call: Call) -> Reply:
    """Answer with the decision's stored bytes: 201 if it was made now, 200 if it was there."""
    context, key = call.context, call.key
    clock = context.services.clock
    started = clock.monotonic()
    proposal = read_proposal(
        call.body, workspace=key.workspace, trusted=_may_vouch(key), submitted_by=key.name
    )
    check_slice(key, proposal.slice_key)
    with context.deciding:
        try:
            answer: Decided = await context.services.decider.decide(proposal)
        except PolicyError as error:
            raise NotReady("no policy can be used here; nothing was decided") from error
    if answer.made is None:
        if proposal.id is not None:
            await decision_of(call, proposal.id)  # another agent's decision is not there for it
        context.metrics.count_replay()
        return Reply(body=_shown(call, answer.response))
    seconds = clock.monotonic() - started
    context.metrics.count_decision(answer.made, seconds)
    _log(answer.made, seconds)
    return Reply(body=_shown(call, answer.response), status=201)


def _log(made: Decision, seconds: float) -> None:
    """Write one line for a decision; the request that is being answered adds its trace."""
    if logger.isEnabledFor(logging.INFO):
        fields = {
            "decision_id": made.id,
            "slice": made.slice_key,
            "route": made.route.value,
            "ms": round(seconds * 1000, 3),
        }
        logger.info("decided", extra=fields)


async def show(call: Call) -> Reply:
    """Return a decision as it is stored."""
    stored = await own_decision(call)
    return Reply(body=_shown(call, splice(stored.body, stored.answer)))


async def consume(call: Call) -> Reply:
    """Use an approval: once, and only while nothing speaks against it."""
    stored = await own_decision(call)
    digest = call.body.get("digest")
    consumer = call.context.services.consumer
    try:
        used = await consumer.consume(stored.workspace, stored.id, digest=digest)
    except PolicyError as error:
        raise NotReady("no policy can be used here; the approval was not used") from error
    return Reply(body=_used(_shown(call, used.response)))


def _used(response: bytes) -> bytes:
    """Return a decision's bytes as the answer to whoever may act on it now.

    `approved` says of a recorded decision whether the gate approved it. Here a person may have.
    """
    for recorded in (b',"approved":true,', b',"approved":false,'):
        if recorded in response:
            return response.replace(recorded, b',"approved":true,"consumed":true,', 1)
    return response


def _shown(call: Call, response: bytes) -> bytes:
    """Return a decision's bytes as the caller may see them.

    An agent does not learn which of its approvals are audited, or it could try until one is not.
    The field stands before everything that comes from a payload, so the first match is it.
    """
    if call.key.role is not Role.AGENT:
        return response
    for told in (b',"audit":true,', b',"audit":false,'):
        if told in response:
            return response.replace(told, b',"audit":null,', 1)
    return response


async def own_decision(call: Call) -> StoredDecision:
    """Return the decision that the address names, if the key may see it.

    Raises NotFound, also for another workspace's decision, and Forbidden for another slice's.
    """
    return await decision_of(call, call.params["id"])


async def decision_of(call: Call, decision_id: str) -> StoredDecision:
    """Return a decision that the key may see. Raises as `own_decision` does."""
    services = call.context.services
    # To whoever reviews, a planted item is an item like any other, wherever they look.
    found = services.ledger if call.key.role is Role.AGENT else services.seen
    stored = await found.decision(call.key.workspace, decision_id)
    if stored is None:
        raise NotFound("there is no such decision")
    check_slice(call.key, stored.slice_key)
    if call.key.role is Role.AGENT and stored.submitted_by != call.key.name:
        raise NotFound("there is no such decision")
    return stored


def _may_vouch(key: ApiKey) -> bool:
    """Tell whether task and sources of this key are believed; else they count as claimed."""
    return key.role is Role.ADMIN or key.trusted_sources


OPERATIONS = (
    Operation(
        method="POST",
        path="/v1/decisions",
        name="decide",
        about="Decide about one output. The decision is on disk when this answers. The same `id` "
        "with the same content gives the stored decision again.",
        run=decide,
        roles=_SUBMITTERS,
        body=ProposalFields,
        reads_itself=True,
        answers={
            201: Answer("The decision, just made.", DecisionShape),
            200: Answer("The decision that was stored under this id before.", DecisionShape),
        },
        problems=frozenset({409}),
    ),
    Operation(
        method="GET",
        path="/v1/decisions/{id}",
        name="showDecision",
        about="Return a decision as it was recorded.",
        run=show,
        roles=ALL_ROLES,
        answers={200: Answer("The decision.", DecisionShape)},
        problems=frozenset({404}),
    ),
    Operation(
        method="POST",
        path="/v1/decisions/{id}/consume",
        name="consumeApproval",
        about="Use an approval: once, within its time, and only while no switch is on. Act only "
        "after this has answered 200, with the output in it. A `digest` says what you mean to "
        "use; where other content was approved, the approval is void.",
        run=consume,
        roles=_SUBMITTERS,
        body=ConsumeFields,
        may_be_empty=True,
        answers={
            200: Answer("The decision, approved by the gate or by people; used now.", ConsumedShape)
        },
        problems=frozenset({404, 409, 422}),
    ),
)
