"""What people do with one item: look at it, hold it, decide, take back."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from typing import Any

from sureline.application.review.desk import ReviewDesk, Said
from sureline.core.values.outcome import Action
from sureline.core.values.review import Review
from sureline.errors import Conflict, Forbidden, InvalidInput, NotFound
from sureline.web.access import check_slice
from sureline.web.pages.edited_again import edited_again
from sureline.web.pages.editing import Editing, editing_of
from sureline.web.pages.following import item_address, list_address, next_of, opened
from sureline.web.pages.page import Page, Visit, redirect
from sureline.web.pages.screen import REVIEWERS, item_of, policy_of, screen
from sureline.web.pages.templates import as_json
from sureline.web.reply import Reply

PLAIN = b"text/plain; charset=utf-8"
LONGEST_COMMENT = 2_000
LONGEST_SECONDS = 86_400.0


async def show(visit: Visit) -> Reply:
    """Show an item with all that is needed to decide."""
    return await screen(visit)


async def show_whole(visit: Visit) -> Reply:
    """Show one text of an item from its beginning to its end."""
    item = await item_of(visit)
    part = visit.params["part"]
    texts = {"task": item.task, "output": as_json(item.output)}
    texts |= {f"source-{number}": one["text"] for number, one in enumerate(item.source)}
    texts |= {f"claim-{name}": as_json(one) for name, one in item.claims.items()}
    if part not in texts:
        raise NotFound("there is no such text")
    return visit.html("whole.html.j2", review=item.review, part=part, text=texts[part])


async def decide(visit: Visit) -> Reply:
    """Do what the pressed button says; whoever comes second is shown how things stand."""
    desk, name = visit.context.services.desk, visit.signed_in.key.name
    act, review_id = visit.form.get("act", ""), visit.params["id"]
    try:
        before = await _check(visit)
        await _act(desk, visit, act, name)
    except (Conflict, Forbidden, InvalidInput) as error:
        return await screen(visit, refused=error)
    if act not in {"claim", "release", "undo", "answer"}:
        return await opened(visit, await next_of(visit), done=review_id)
    left = visit.form.get("leaving")  # what was in front of whoever goes back to another
    if left and not visit.form.get("keep"):
        await visit.context.services.inbox.give_back(left, name)
    verdict = before.verdict
    if act == "undo" and verdict is not None and verdict.action is Action.EDIT:
        return await edited_again(visit, verdict)
    here = item_address(visit, review_id)
    return redirect(here if act != "release" else list_address(visit))


async def hold(visit: Visit) -> Reply:
    """Claim an item for somebody who works on it, or hold on to it; for a script."""
    desk, name = visit.context.services.desk, visit.signed_in.key.name
    try:
        await _check(visit)
        held = await desk.claim(visit.params["id"], name)
    except (Conflict, Forbidden) as error:
        return Reply(body=error.message.encode(), status=error.status, media_type=PLAIN)
    assert held.lease_until is not None
    return Reply(body=held.lease_until.isoformat().encode(), media_type=PLAIN)


async def leave(visit: Visit) -> Reply:
    """Give back what was in front of somebody who goes elsewhere; for a script.

    Where they look through what they hold, they keep it.
    """
    services, name = visit.context.services, visit.signed_in.key.name
    if visit.view.sought(name, services.clock.now()).held_by is None:
        await services.inbox.give_back(visit.params["id"], name)
    return Reply(body=b"", media_type=PLAIN)


async def _check(visit: Visit) -> Review:
    review = await visit.context.services.desk.store.get(
        visit.context.services.workspace, visit.params["id"]
    )
    if review is None:
        raise NotFound("there is no such review")
    check_slice(visit.signed_in.key, review.slice_key)
    if review.submitted_by == visit.signed_in.key.name:
        raise Forbidden("nobody decides about their own proposal; somebody else must")
    return review


async def _act(desk: ReviewDesk, visit: Visit, act: str, name: str) -> None:
    review_id, comment = visit.params["id"], visit.form.get("comment") or None
    if comment is not None and len(comment) > LONGEST_COMMENT:
        raise InvalidInput(f"expected at most {LONGEST_COMMENT} characters", field="comment")
    steps: dict[str, Callable[[], Awaitable[Review]]] = {
        "claim": lambda: desk.claim(review_id, name),
        "release": lambda: desk.release(review_id, name),
        "undo": lambda: desk.undo(review_id, name),
        "skip": lambda: desk.skip(review_id, name, comment),
        "escalate": lambda: desk.escalate(review_id, name, comment),
    }
    if act in steps:
        await steps[act]()
        return
    if act == "answer":
        own = visit.form.get("own", "")
        await visit.context.services.answer_first.answer(review_id, name, own)
        return
    if act not in {"approve", "edit", "reject"}:
        raise InvalidInput("expected one of the buttons", field="act")
    said = Said(
        action=Action(act),
        by=name,
        digest=visit.form.get("digest", ""),
        edited=await _edited(desk, visit, act),
        reason=visit.form.get("reason") or None,
        comment=comment,
        shown_at=visit.sessions.shown_at(
            visit.signed_in.key, review_id, visit.form.get("shown", "")
        ),
        seconds=_seconds(visit.form.get("seconds", "")),
    )
    await desk.decide(review_id, said)


async def _edited(desk: ReviewDesk, visit: Visit, act: str) -> Any:
    """Return the edited output for an edit; a draft that was typed over is not approved as it was.

    Raises InvalidInput, and Conflict where the draft is not the one that was typed over.
    """
    if act == "reject":
        return None
    editing = await _editing(desk, visit)
    if act == "edit":
        return editing.read(visit.form)
    if editing.is_changed(visit.form):
        raise InvalidInput("the draft was changed: release the edit, or take the changes back")
    return None


async def _editing(desk: ReviewDesk, visit: Visit) -> Editing:
    item = await desk.show(visit.params["id"])
    if visit.form.get("digest", "") != item.review.digest:
        raise Conflict("the content has changed since it was shown; look at it again")
    policy = await policy_of(visit, item.review.slice_key)
    return editing_of(item.output, policy, visit.form.get("as"))


def _seconds(text: str) -> float | None:
    """Return how long the page says it was looked at, None for anything that is no time."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and 0 <= seconds <= LONGEST_SECONDS else None


PAGES = (
    Page(method="GET", path="/reviews/{id}", run=show),
    Page(method="POST", path="/reviews/{id}", run=decide, roles=REVIEWERS),
    Page(method="POST", path="/reviews/{id}/hold", run=hold, roles=REVIEWERS),
    Page(method="POST", path="/reviews/{id}/leave", run=leave, roles=REVIEWERS),
    Page(method="GET", path="/reviews/{id}/whole/{part}", run=show_whole),
)
