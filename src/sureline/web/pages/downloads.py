"""Lists to take along: what a page lists, as CSV for a spreadsheet."""

from __future__ import annotations

from datetime import timedelta

from sureline.application.in_csv import logbook_csv, queue_csv
from sureline.core.review import transitions
from sureline.web.pages.apart import apart
from sureline.web.pages.filters import Filters
from sureline.web.pages.guarded import GUARDED
from sureline.web.pages.logbook_page import days_of
from sureline.web.pages.offered import wanted_of
from sureline.web.pages.page import Page, Visit
from sureline.web.reply import Reply

CSV = b"text/csv; charset=utf-8; header=present"
MOST = 1_000
"""Items of the queue in one file."""


async def queue(visit: Visit) -> Reply:
    """Return what the inbox lists under the same filters, in the same order."""
    services, key = visit.context.services, visit.signed_in.key
    filters, now = Filters.of(visit.query), services.clock.now()
    found = await services.inbox.page(
        await wanted_of(visit, filters), filters.sought(key.name, now), limit=MOST, offset=0
    )
    items = [transitions.settle(one, now) for one in found.items]
    return _file("queue", queue_csv(items, found.lines))


async def logbook(visit: Visit) -> Reply:
    """Return the changes that the logbook lists, oldest first, and all of them."""
    services, key = visit.context.services, visit.signed_in.key
    since = services.clock.now() - timedelta(days=days_of(visit))
    seen = await apart(lambda: services.logbook.entries(since, slices=key.slices))
    return _file("logbook", logbook_csv(seen))


def _file(name: str, text: str) -> Reply:
    """Return a file to be kept, which no browser opens as a page."""
    kept = (b"content-disposition", f'attachment; filename="sureline-{name}.csv"'.encode())
    return Reply(body=text.encode("utf-8"), media_type=CSV, headers=(*GUARDED, kept))


PAGES = (
    Page(method="GET", path="/queue.csv", run=queue),
    Page(method="GET", path="/logbook.csv", run=logbook),
)
