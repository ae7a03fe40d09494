"""What a person's groups work on: the view with which their inbox opens (R15)."""

from __future__ import annotations

from sureline.application.ports.reviews import Wanted
from sureline.core.values.person import person_of
from sureline.web.pages.filters import Filters
from sureline.web.pages.page import Visit

OF_GROUP = Filters(whose="group")


async def wanted_of(visit: Visit, filters: Filters) -> Wanted:
    """Return what a view means for this person."""
    key, wanted = visit.signed_in.key, filters.wanted(visit.signed_in.key)
    if not filters.whose:
        return wanted
    return await visit.context.services.desk.offered(key.name, wanted)


async def is_in_group(visit: Visit) -> bool:
    """Tell whether this person is a member of a group."""
    offers, name = visit.context.services.desk.offers, person_of(visit.signed_in.key.name)
    groups = {} if offers is None else await offers.groups()
    return any(name in one.members for one in groups.values())
