"""The review queue: take an item, look at it, decide (R2-R5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from sureline.application.encode import finding_json
from sureline.application.ports.keys import Role
from sureline.application.ports.reviews import Wanted
from sureline.application.review.bulk import Bulk, Row
from sureline.application.review.desk import Said
from sureline.application.review.in_json import item_json, review_json, row_json
from sureline.application.review.item import ReviewItem
from sureline.core.review.edits import edited_fields
from sureline.core.values.outcome import Action
from sureline.core.values.person import same_person
from sureline.core.values.review import Review
from sureline.errors import Forbidden, NotFound
from sureline.web.access import check_slice, may_see
from sureline.web.api.review_shapes import (
    AnswerFields,
    BulkFields,
    BulkShape,
    EditFields,
    NextShape,
    QueueItemShape,
    QueueShape,
    RecheckShape,
    ReviewItemShape,
    SayFields,
    VerdictFields,
)
from sureline.web.operation import READERS, Answer, Call, Operation, QueryNumber
from sureline.web.reply import Reply

_REVIEWERS = frozenset({Role.REVIEWER, Role.ADMIN})
LIMIT = QueryNumber(
    name="limit", about="How many to return at most.", default=50.0, least=1.0, most=500.0
)
OFFSET = QueryNumber(
    name="offset", about="How many to leave out first.", default=0.0, least=0.0, most=1e7
)
OVER = QueryNumber(
    name="over",
    about="1 returns what is decided, expired or superseded, the newest first.",
    default=0.0,
    least=0.0,
    most=1.0,
)


OFFERED = QueryNumber(
    name="offered",
    about="1 returns only what the groups work on that the key's holder is in.",
    default=0.0,
    least=0.0,
    most=1.0,
)


async def page(call: Call) -> Reply:
    """Return a page of the queue, of the slices that the key may see."""
    desk = call.context.services.desk
    wanted = Wanted(slices=call.key.slices, is_open=not OVER.read(call))
    if OFFERED.read(call):
        wanted = await desk.offered(call.key.name, wanted)
    found = await desk.page(wanted, limit=int(LIMIT.read(call)), offset=int(OFFSET.read(call)))
    return Reply.json(
        {
            "reviews": [review_json(one) for one in found],
            "counts": [
                {
                    "slice_key": one.slice_key,
                    "kind": one.kind,
                    "state": one.state,
                    "count": one.count,
                    "oldest": one.oldest.isoformat(),
                }
                for one in await desk.counts()
                if may_see(call.key, one.slice_key)
            ],
        }
    )


async def show(call: Call) -> Reply:
    """Return an item with all that is needed to decide."""
    return Reply.json(item_json(await _item(call)))


async def take_next(call: Call) -> Reply:
    """Claim the most urgent item that this person may take."""
    found = await call.context.services.desk.next(call.key.name, Wanted(slices=call.key.slices))
    return Reply.json({"review": None if found is None else review_json(found)})


async def claim(call: Call) -> Reply:
    """Take an item; nobody else can decide about it while the lease holds."""
    desk = call.context.services.desk
    return await _changed(call, lambda one: desk.claim(one, call.key.name))


async def heartbeat(call: Call) -> Reply:
    """Hold on to a claim."""
    desk = call.context.services.desk
    return await _changed(call, lambda one: desk.heartbeat(one, call.key.name))


async def release(call: Call) -> Reply:
    """Let go of a claim."""
    desk = call.context.services.desk
    return await _changed(call, lambda one: desk.release(one, call.key.name))


async def undo(call: Call) -> Reply:
    """Take a verdict back before it is handed out."""
    desk = call.context.services.desk
    return await _changed(call, lambda one: desk.undo(one, call.key.name))


async def skip(call: Call) -> Reply:
    """Leave an item to somebody else."""
    desk, comment = call.context.services.desk, call.body.get("comment")
    return await _changed(call, lambda one: desk.skip(one, call.key.name, comment))


async def escalate(call: Call) -> Reply:
    """Hand an item a step up."""
    desk, comment = call.context.services.desk, call.body.get("comment")
    return await _changed(call, lambda one: desk.escalate(one, call.key.name, comment))


async def decide(call: Call) -> Reply:
    """Approve, edit or reject what was shown."""
    desk, given = call.context.services.desk, dict(call.body)
    said = Said(by=call.key.name, action=Action(given.pop("action")), **given)
    return await _changed(call, lambda one: desk.decide(one, said))


async def bulk(call: Call) -> Reply:
    """Do the same with many items; each is decided for itself."""
    given = dict(call.body)
    rows = [Row(id=one["id"], digest=one["digest"]) for one in given.pop("items")]
    work = Bulk(
        desk=call.context.services.desk,
        action=Action(given.pop("action")),
        by=call.key.name,
        check=lambda item: _check_may_decide(call, item),
        **given,
    )
    done = await work.do(rows)
    return Reply.json(
        {
            "items": [row_json(one) for one in done],
            "done": sum(one.error is None for one in done),
        }
    )


async def answer(call: Call) -> Reply:
    """Say what is right before the output is shown; then it is shown."""
    item = await _item(call)
    services = call.context.services
    await services.answer_first.answer(item.review.id, call.key.name, call.body["answer"])
    return Reply.json(item_json(await _item(call)))


async def recheck(call: Call) -> Reply:
    """Say what the checks make of an edit; nothing is decided by that."""
    item = await _item(call)
    edited = call.body["edited"]
    found = await call.context.services.desk.recheck(item.review.id, edited)
    return Reply.json(
        {
            "usable": not found.fatal,
            "score": found.score,
            "findings": [finding_json(one) for one in found.findings],
            "edited_fields": list(edited_fields(item.output, found.output)),
        }
    )


async def _item(call: Call) -> ReviewItem:
    """Return the item that the address names. Raises NotFound, and Forbidden for other slices."""
    item = await call.context.services.desk.show(call.params["id"], call.key.name)
    check_slice(call.key, item.review.slice_key)
    return item


async def _changed(call: Call, change: Callable[[str], Awaitable[Review]]) -> Reply:
    review = await call.context.services.desk.store.get(call.key.workspace, call.params["id"])
    if review is None:
        raise NotFound("there is no such review")
    _check_may_decide(call, review)
    return Reply.json(review_json(await change(review.id)))


def _check_may_decide(call: Call, review: Review) -> None:
    check_slice(call.key, review.slice_key)
    if same_person(review.submitted_by, call.key.name):
        raise Forbidden("nobody decides about their own proposal; somebody else must")


def _act(
    name: str,
    run: Callable[[Call], Awaitable[Reply]],
    about: str,
    *,
    body: Any = None,
    shape: Any = QueueItemShape,
) -> Operation:
    return Operation(
        method="POST",
        path=f"/v1/reviews/{{id}}/{name}",
        name=f"{name}Review",
        about=about,
        run=run,
        roles=_REVIEWERS,
        body=body,
        may_be_empty=body is SayFields,
        answers={200: Answer("The item as it is now.", shape)},
        problems=frozenset({404, 409, 422}),
    )


OPERATIONS = (
    Operation(
        method="GET",
        path="/v1/reviews",
        name="listReviews",
        about="Return what waits for a person, in the order in which it is to be worked on.",
        run=page,
        roles=READERS,
        query=(LIMIT, OFFSET, OVER, OFFERED),
        answers={200: Answer("A page of the queue.", QueueShape)},
        problems=frozenset({422}),
    ),
    Operation(
        method="POST",
        path="/v1/reviews/next",
        name="nextReview",
        about="Claim the most urgent item that you may take.",
        run=take_next,
        roles=_REVIEWERS,
        answers={200: Answer("The item, claimed; null if there is none.", NextShape)},
    ),
    Operation(
        method="POST",
        path="/v1/reviews/bulk",
        name="bulkReviews",
        about="Do the same with many items. Each is compared with the digest that was shown and "
        "decided for itself; those that could not be are named with the reason. Only reversible "
        "items are approved so.",
        run=bulk,
        roles=_REVIEWERS,
        body=BulkFields,
        answers={200: Answer("What became of each item.", BulkShape)},
        problems=frozenset({422}),
    ),
    Operation(
        method="GET",
        path="/v1/reviews/{id}",
        name="showReview",
        about="Return an item with all that is needed to decide. For an audit the gate's view is "
        "left out.",
        run=show,
        roles=READERS,
        answers={200: Answer("The item with its content.", ReviewItemShape)},
        problems=frozenset({404}),
    ),
    _act("claim", claim, "Take an item; nobody else can decide about it while the lease holds."),
    _act("heartbeat", heartbeat, "Hold on to a claim for another lease."),
    _act("release", release, "Let go of a claim."),
    _act(
        "decide",
        decide,
        "Approve, edit or reject the content whose digest was shown. If it has changed since, or "
        "somebody else was first, this answers 409 and says so.",
        body=VerdictFields,
    ),
    _act(
        "answer",
        answer,
        "Say what is right before the output is shown, where an item asks for it "
        "(`answer_first`). The first answer stands.",
        body=AnswerFields,
        shape=ReviewItemShape,
    ),
    _act(
        "recheck",
        recheck,
        "Run the slice's checks on an edit before deciding it.",
        body=EditFields,
        shape=RecheckShape,
    ),
    _act("escalate", escalate, "Hand an item a step up, with a new deadline.", body=SayFields),
    _act("skip", skip, "Leave an item to somebody else.", body=SayFields),
    _act("undo", undo, "Take your verdict back before it is handed out."),
)
