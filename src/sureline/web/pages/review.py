"""One item on one screen, and what can be done with it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from sureline.application.ports.keys import Role
from sureline.application.review.desk import ReviewDesk, Said
from sureline.core.review.edits import edited_fields
from sureline.core.values.outcome import Action
from sureline.core.values.review import Review
from sureline.errors import Conflict, Forbidden, InvalidInput, NotFound
from sureline.web.access import check_slice
from sureline.web.pages.page import Page, Visit, redirect
from sureline.web.reply import Reply

REVIEWERS = frozenset({Role.REVIEWER, Role.ADMIN})
CHIPS = (
    "wrong_value",
    "not_in_source",
    "incomplete",
    "off_task",
    "wrong_format",
    "wrong_tone",
    "unsafe",
    "duplicate",
    "other",
)
"""Reasons that one key chooses; a policy's own words come in a later version."""


async def show(visit: Visit) -> Reply:
    """Show an item with all that is needed to decide."""
    return await _shown(visit)


async def _shown(visit: Visit, *, status: int = 200, error: str | None = None) -> Reply:
    desk = visit.context.services.desk
    item = await desk.show(visit.params["id"])
    check_slice(visit.signed_in.key, item.review.slice_key)
    review = item.review
    now = visit.context.services.clock.now()
    name = visit.signed_in.key.name
    return visit.html(
        "review.html.j2",
        status=status,
        item=item,
        review=review,
        error=error,
        chips=CHIPS,
        now=now,
        changed=edited_fields(item.proposed, item.output),
        mine=review.is_held(now) and review.claimed_by == name,
        taken=review.is_held(now) and review.claimed_by != name,
        typed=visit.form.get("edited"),
        may_decide=visit.signed_in.key.role in REVIEWERS,
        can_undo=_can_undo(review, name, now),
    )


def _can_undo(review: Review, name: str, now: Any) -> bool:
    verdict = review.verdict
    return (
        verdict is not None
        and verdict.by == name
        and not review.released
        and review.release_at is not None
        and now < review.release_at
    )


async def decide(visit: Visit) -> Reply:
    """Do what the pressed button says; whoever comes second is shown how things stand."""
    desk, name = visit.context.services.desk, visit.signed_in.key.name
    act = visit.form.get("act", "")
    try:
        await _check(visit)
        await _act(desk, visit, act, name)
    except (Conflict, Forbidden, InvalidInput) as error:
        return await _shown(visit, status=error.status, error=error.message)
    if act in {"claim", "release", "undo"}:
        return redirect(f"/reviews/{visit.params['id']}")
    return redirect("/")


async def _check(visit: Visit) -> None:
    review = await visit.context.services.desk.store.get(
        visit.context.services.workspace, visit.params["id"]
    )
    if review is None:
        raise NotFound("there is no such review")
    check_slice(visit.signed_in.key, review.slice_key)
    if review.submitted_by == visit.signed_in.key.id:
        raise Forbidden("nobody decides about their own proposal; somebody else must")


async def _act(desk: ReviewDesk, visit: Visit, act: str, name: str) -> None:
    review_id, comment = visit.params["id"], visit.form.get("comment") or None
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
    if act not in {"approve", "edit", "reject"}:
        raise InvalidInput("expected one of the buttons", field="act")
    said = Said(
        action=Action(act),
        by=name,
        digest=visit.form.get("digest", ""),
        edited=await _edited(desk, visit) if act == "edit" else None,
        reason=visit.form.get("reason") or None,
        comment=comment,
        anchored=visit.form.get("anchored", "1") == "1",
    )
    await desk.decide(review_id, said)


async def _edited(desk: ReviewDesk, visit: Visit) -> Any:
    """Return the edited output: JSON where the draft has structure, else the text as it is."""
    text = visit.form.get("edited", "").replace("\r\n", "\n")
    item = await desk.show(visit.params["id"])
    if isinstance(item.output, str):
        return text
    try:
        return json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"expected JSON: {error}", field="edited") from None


PAGES = (
    Page(method="GET", path="/reviews/{id}", run=show),
    Page(method="POST", path="/reviews/{id}", run=decide, roles=REVIEWERS),
)
