"""The item after a verdict, in the view in which somebody works."""

from __future__ import annotations

from dataclasses import replace

from sureline.core.values.review import Review
from sureline.web.pages.page import Visit, redirect
from sureline.web.pages.screen import screen
from sureline.web.pages.templates import step
from sureline.web.reply import Reply


async def next_of(
    visit: Visit, *, leaving: str | None = None, keeps: bool = False
) -> Review | None:
    """Claim the next item of the view in which this person works; None where it has no other."""
    services, key, view = visit.context.services, visit.signed_in.key, visit.view
    sought = view.sought(key.name, services.clock.now())
    wanted = replace(view.wanted(key), is_open=True)
    return await services.inbox.next(key.name, wanted, sought, leaving=leaving, keeps=keeps)


async def opened(visit: Visit, found: Review | None, *, done: str | None = None) -> Reply:
    """Lead to an item that was just claimed, or to the list where there is none.

    A page that asks for it (`direct`) is answered with the item itself, which saves the way there
    and back of a redirection; its script gives the page the item's own address.
    """
    said = [f"done={step(done)}"] if done else []
    if found is None:
        return redirect(list_address(visit, *said))
    address = item_address(visit, found.id, *said)
    if visit.form.get("direct") != "1":
        return redirect(address)
    shown = {"in": visit.view.query, **({"done": done} if done else {})}
    return await screen(
        replace(visit, params={"id": found.id}, query=shown, form={}, address=address)
    )


def list_address(visit: Visit, *more: str) -> str:
    """Return the address of the view in which this person works."""
    parts = "&".join([*([visit.view.query] if visit.view.query else []), *more])
    return f"/{'?' if parts else ''}{parts}"


def item_address(visit: Visit, review_id: str, *more: str) -> str:
    """Return the address of an item within the view in which this person works."""
    within = [f"in={step(visit.view.query)}"] if visit.view.query else []
    parts = "&".join([*more, *within])
    return f"/reviews/{step(review_id)}{'?' if parts else ''}{parts}"
