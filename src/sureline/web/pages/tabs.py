"""The views of the inbox as tabs: all, one's own items, and what somebody has saved."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sureline.application.ports.inbox import FoundCount
from sureline.application.ports.reviews import QueueCount
from sureline.application.ports.saved_views import SavedView
from sureline.core.values.review import ReviewState
from sureline.web.pages.filters import Filters
from sureline.web.pages.offered import OF_GROUP, is_in_group, wanted_of
from sureline.web.pages.page import Visit

MOST_COUNTED = 99
UP = 1_000
"""More steps up than there are: counts tell only whether something went up at all."""
FRESH_SECONDS, KEPT_SECONDS = 5.0, 60.0
"""How old a count may be: of a tab that is counted anew, and of one on a page that is opened."""
EVERYTHING, MINE = Filters(), Filters(state="mine")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """A view with its address; `count` is None while it is not known."""

    name: str
    address: str
    count: FoundCount | None
    is_here: bool
    saved: SavedView | None = None

    @property
    def said(self) -> str:
        """Return the count in figures, with a plus where there may be more."""
        if self.count is None:
            return "…"
        return f"{self.count.count}{'' if self.count.is_whole else '+'}"


async def saved_views(visit: Visit) -> Sequence[SavedView]:
    """Return the views that this person has saved."""
    services = visit.context.services
    return await services.store.views.list(services.workspace, visit.signed_in.key.name)


async def tabs_of(
    visit: Visit,
    views: Sequence[SavedView],
    here: Filters,
    counts: Sequence[QueueCount],
    *,
    anew: bool,
) -> list[Tab]:
    """Return all tabs; without `anew` no item is compared, so that a page is there at once."""
    known: list[tuple[str, Filters, SavedView | None]] = [
        ("All", EVERYTHING, None),
        ("Mine", MINE, None),
        *([("My groups", OF_GROUP, None)] if await is_in_group(visit) else []),
        *((one.name, Filters.read(one.filter), one) for one in views),
    ]
    return [
        Tab(
            name=name,
            address=f"/?{filters.query or 'all=1'}",
            count=await _count(visit, filters, counts, anew=anew),
            is_here=filters == here,
            saved=saved,
        )
        for name, filters, saved in known
    ]


async def _count(
    visit: Visit, filters: Filters, counts: Sequence[QueueCount], *, anew: bool
) -> FoundCount | None:
    services, key = visit.context.services, visit.signed_in.key
    wanted, sought = await wanted_of(visit, filters), filters.sought(key.name, services.clock.now())
    if sought.is_anything:
        found = sum(
            one.count
            for one in counts
            if wanted.has(one.slice_key, UP if one.state is ReviewState.ESCALATED else 0)
            and one.kind in wanted.kinds
            and one.state.is_open is wanted.is_open
        )
        return FoundCount(count=found, is_whole=True)
    about = (key.slices, filters.query, key.name if sought.held_by or filters.whose else "")
    if filters.is_costly:
        seconds = FRESH_SECONDS if anew else KEPT_SECONDS
        known = visit.context.view_counts.get(about, seconds=seconds)
        if known is not None or not anew:
            return known
    count = await services.inbox.count(wanted, sought, most=MOST_COUNTED)
    if filters.is_costly:
        visit.context.view_counts.put(about, count)
    return count
