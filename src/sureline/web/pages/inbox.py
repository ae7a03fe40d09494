"""The inbox: what waits for a person, in the order in which it is to be worked on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sureline.application.ports.inbox import LOOKED_AT
from sureline.application.ports.saved_views import SavedView
from sureline.core.review import transitions
from sureline.core.review.recalled import stakes_of
from sureline.web.access import may_see
from sureline.web.pages.counting import counts_part, waiting
from sureline.web.pages.filters import DUE, KINDS, STAKES, STATES, Filters
from sureline.web.pages.following import item_address, next_of, opened
from sureline.web.pages.guarded import GUARDED, HTML
from sureline.web.pages.notice import notice_of
from sureline.web.pages.offered import OF_GROUP, is_in_group, wanted_of
from sureline.web.pages.page import Page, Visit, redirect
from sureline.web.pages.screen import REVIEWERS
from sureline.web.pages.selection import (
    Picks,
    likeness,
    list_visit,
    may_pick,
    pick_of,
    picked,
)
from sureline.web.pages.switches_on import switches_on
from sureline.web.pages.tabs import saved_views, tabs_of
from sureline.web.reply import Reply

PAGE = 100


async def inbox(visit: Visit) -> Reply:
    """Show a page of the queue; nothing is written: a link that is followed changes nothing."""
    views = await saved_views(visit)
    first = await _first_view(visit, views)
    if first is not None:
        return redirect(first)
    services = visit.context.services
    filters = Filters.of(visit.query)
    named = filters.find and await services.desk.store.get(services.workspace, filters.find)
    if named:
        inside = replace(visit, query={**visit.query, "in": filters.query})
        return redirect(item_address(inside, named.id))
    return await _page(visit, views, filters, None)


async def decide_picked(visit: Visit) -> Reply:
    """Decide what was selected, and show the list with what became of each."""
    picks = await picked(visit)
    visit = list_visit(visit)
    return await _page(visit, await saved_views(visit), Filters.of(visit.query), picks)


async def _page(
    visit: Visit, views: Sequence[SavedView], filters: Filters, picks: Picks | None
) -> Reply:
    visit = replace(visit, query={**visit.query, "in": filters.query})
    services, key = visit.context.services, visit.signed_in.key
    now, offset = services.clock.now(), visit.number("offset")
    found = await services.inbox.page(
        await wanted_of(visit, filters), filters.sought(key.name, now), limit=PAGE, offset=offset
    )
    seen = [transitions.settle(one, now) for one in found.items]
    items = seen if filters.over else [one for one in seen if one.state.is_open]
    counts = [one for one in await services.desk.counts() if may_see(key, one.slice_key)]
    return visit.html(
        "inbox.html.j2",
        items=items,
        lines=found.lines,
        more=found.more,
        is_whole=found.is_whole,
        looked_at=LOOKED_AT,
        offset=offset,
        page=PAGE,
        filters=filters,
        address=lambda review_id: item_address(visit, review_id),
        tabs=await tabs_of(visit, views, filters, counts, anew=False),
        choices={"kind": dict.fromkeys(KINDS), "stakes": STAKES, "state": STATES, "due": DUE},
        known_slices=sorted({one.slice_key for one in counts}),
        known_reasons=sorted({code for line in found.lines.values() for code in line.reasons}),
        waiting=waiting(key, counts),
        stakes_of=stakes_of,
        now=now,
        may_decide=key.role in REVIEWERS,
        picks=picks,
        pick_of={one.id: pick_of(one) for one in items if may_pick(key, one, now)},
        likeness=lambda one: likeness(one, found.lines.get(one.id)),
        notice=await notice_of(visit),
        switches=await switches_on(visit),
    )


async def _first_view(visit: Visit, views: Sequence[SavedView]) -> str | None:
    """Return the address of the view that the inbox opens with, None where it is open already."""
    if set(visit.query) - {"done"}:
        return None
    chosen = next((one for one in views if one.opens), None)
    if chosen is not None:
        view = chosen.filter or "all=1"
    elif await is_in_group(visit):
        view = OF_GROUP.query
    else:
        return None
    done = [f"done={visit.query['done']}"] if "done" in visit.query else []
    return f"/?{'&'.join([view, *done])}"


async def counts(visit: Visit) -> Reply:
    """Return how much waits, as a part of the inbox; for a script that has no stream."""
    part = counts_part(visit.signed_in.key, await visit.context.live.counts())
    return Reply(body=part.encode("utf-8", "replace"), media_type=HTML, headers=GUARDED)


async def take_next(visit: Visit) -> Reply:
    """Claim the most urgent item of the view and go to it; what was in front is given back."""
    left, keeps = visit.form.get("leaving") or None, bool(visit.form.get("keep"))
    return await opened(visit, await next_of(visit, leaving=left, keeps=keeps))


PAGES = (
    Page(method="GET", path="/", run=inbox),
    Page(method="GET", path="/counts", run=counts),
    Page(method="POST", path="/picked", run=decide_picked, roles=REVIEWERS),
    Page(method="POST", path="/next", run=take_next, roles=REVIEWERS),
)
