"""The switches that are on, for a banner on the pages on which people work (G29)."""

from __future__ import annotations

from collections.abc import Sequence

from sureline.application.review.item import ReviewItem
from sureline.core.values.switch import Switch
from sureline.web.api.switches import switches_seen
from sureline.web.pages.page import Visit


async def switches_on(visit: Visit) -> Sequence[Switch]:
    """Return all that concern this person."""
    seen = await switches_seen(visit.context.services, visit.signed_in.key)
    return [one for one in seen if one.on]


async def switches_for(visit: Visit, item: ReviewItem) -> Sequence[Switch]:
    """Return those in whose scope an item is."""
    services = visit.context.services
    slice_key, workspace = item.review.slice_key, services.workspace
    stored = await services.ledger.switches_on(workspace, slice_key, item.batch_id)
    return [*services.plugins.hard_switch.read(workspace), *stored]
