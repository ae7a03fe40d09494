"""The inbox: what waits for a person, in the order in which it is to be worked on."""

from __future__ import annotations

from sureline.application.ports.reviews import Wanted
from sureline.web.pages.page import Page, Visit, redirect
from sureline.web.reply import Reply

PAGE = 50


async def inbox(visit: Visit) -> Reply:
    """Show a page of the queue."""
    desk, key = visit.context.services.desk, visit.signed_in.key
    await desk.settle()
    slices = _slices(visit)
    offset = max(0, int(visit.query.get("offset", "0") or 0))
    wanted = Wanted(slices=slices, is_open="over" not in visit.query)
    found = await desk.page(wanted, limit=PAGE + 1, offset=offset)
    counts = [one for one in await desk.counts() if not key.slices or one.slice_key in key.slices]
    return visit.html(
        "inbox.html.j2",
        items=found[:PAGE],
        more=len(found) > PAGE,
        offset=offset,
        page=PAGE,
        over=not wanted.is_open,
        chosen=visit.query.get("slice", ""),
        counts=counts,
        now=visit.context.services.clock.now(),
    )


async def take_next(visit: Visit) -> Reply:
    """Claim the most urgent item and go to it."""
    key = visit.signed_in.key
    wanted = Wanted(slices=_slices(visit), not_by=key.id)
    found = await visit.context.services.desk.next(key.name, wanted)
    return redirect("/" if found is None else f"/reviews/{found.id}")


def _slices(visit: Visit) -> tuple[str, ...]:
    """Return the slices that are asked for, among those that the key may see."""
    mine = visit.signed_in.key.slices
    chosen = visit.query.get("slice") or visit.form.get("slice")
    if chosen and (not mine or chosen in mine):
        return (chosen,)
    return mine


PAGES = (
    Page(method="GET", path="/", run=inbox),
    Page(method="POST", path="/next", run=take_next),
)
