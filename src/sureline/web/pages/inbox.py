"""The inbox: what waits for a person, in the order in which it is to be worked on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sureline.application.ports.reviews import QueueCount, Wanted
from sureline.core.review import transitions
from sureline.core.values.review import ReviewKind, ReviewState
from sureline.web.pages.notice import notice_of
from sureline.web.pages.page import Page, Visit, redirect
from sureline.web.pages.screen import REVIEWERS
from sureline.web.pages.templates import step
from sureline.web.reply import Reply

PAGE = 100
STAKES = ("reversible", "high cost", "irreversible")
"""By rank."""


async def inbox(visit: Visit) -> Reply:
    """Show a page of the queue; nothing is written: a link that is followed changes nothing."""
    desk = visit.context.services.desk
    sought = visit.query.get("find", "").strip()
    if sought and await desk.store.get(desk.workspace, sought) is not None:
        return redirect(f"/reviews/{step(sought)}")
    now = visit.context.services.clock.now()
    offset, is_over = visit.number("offset"), "over" in visit.query
    wanted = Wanted(slices=_slices(visit), kinds=_kinds(visit), is_open=not is_over)
    found = await desk.page(wanted, limit=PAGE + 1, offset=offset)
    seen = [transitions.settle(one, now) for one in found[:PAGE]]
    counts = await _counts(visit)
    return visit.html(
        "inbox.html.j2",
        items=seen if is_over else [one for one in seen if one.state.is_open],
        more=len(found) > PAGE,
        offset=offset,
        page=PAGE,
        over=is_over,
        sought=sought,
        slice=visit.query.get("slice", ""),
        kind=visit.query.get("kind", ""),
        known_slices=sorted({one.slice_key for one in counts}),
        kinds=tuple(ReviewKind),
        waiting=_waiting(counts),
        stakes=STAKES,
        now=now,
        may_decide=visit.signed_in.key.role in REVIEWERS,
        notice=await notice_of(visit),
    )


async def counts(visit: Visit) -> Reply:
    """Return how much waits, as a part of the inbox; for a script."""
    return visit.html("counts.html.j2", waiting=_waiting(await _counts(visit)))


async def take_next(visit: Visit) -> Reply:
    """Claim the most urgent item and go to it."""
    key = visit.signed_in.key
    wanted = Wanted(slices=_slices(visit), kinds=_kinds(visit))
    found = await visit.context.services.desk.next(key.name, wanted)
    return redirect("/" if found is None else f"/reviews/{step(found.id)}")


async def _counts(visit: Visit) -> Sequence[QueueCount]:
    mine = visit.signed_in.key.slices
    found = await visit.context.services.desk.counts()
    return [one for one in found if not mine or one.slice_key in mine]


def _waiting(counts: Sequence[QueueCount]) -> list[tuple[str, int, int]]:
    """Return the slices with open items: how many wait, and how many of them a step up."""
    waiting: Counter[str] = Counter()
    escalated: Counter[str] = Counter()
    for one in counts:
        if one.state.is_open:
            waiting[one.slice_key] += one.count
            escalated[one.slice_key] += one.count * (one.state is ReviewState.ESCALATED)
    return [(key, count, escalated[key]) for key, count in sorted(waiting.items())]


def _slices(visit: Visit) -> tuple[str, ...]:
    """Return the slices that are asked for, among those that the key may see."""
    mine = visit.signed_in.key.slices
    chosen = visit.query.get("slice") or visit.form.get("slice")
    if chosen and (not mine or chosen in mine):
        return (chosen,)
    return mine


def _kinds(visit: Visit) -> tuple[ReviewKind, ...]:
    chosen = visit.query.get("kind") or visit.form.get("kind")
    return (ReviewKind(chosen),) if chosen in set(ReviewKind) else tuple(ReviewKind)


PAGES = (
    Page(method="GET", path="/", run=inbox),
    Page(method="GET", path="/counts", run=counts),
    Page(method="POST", path="/next", run=take_next, roles=REVIEWERS),
)
