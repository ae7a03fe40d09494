"""The logbook as a page: what changed, when, by whom, with automation before and after (L6)."""

from __future__ import annotations

from datetime import timedelta

from sureline.web.pages.apart import apart
from sureline.web.pages.page import Page, Visit
from sureline.web.reply import Reply

DAYS = (7, 30, 90, 365)
"""How far back one can look."""
MOST = 500
"""Lines that are shown, the newest."""


async def show(visit: Visit) -> Reply:
    """Show the changes that concern the slices that the key may see, newest first."""
    services, key = visit.context.services, visit.signed_in.key
    days = days_of(visit)
    since = services.clock.now() - timedelta(days=days)
    seen = await apart(lambda: services.logbook.entries(since, slices=key.slices))
    return visit.html(
        "logbook.html.j2",
        entries=seen[: -MOST - 1 : -1],
        left_out=max(0, len(seen) - MOST),
        days=days,
        choices=DAYS,
    )


def days_of(visit: Visit) -> int:
    """Return how far back the address asks to look, of `DAYS`."""
    asked = visit.query.get("days", "")
    return int(asked) if asked in {str(one) for one in DAYS} else 90


PAGES = (Page(method="GET", path="/logbook", run=show),)
