"""Save the present filter under a name, open the inbox with it, delete it."""

from __future__ import annotations

from sureline.application.ports.saved_views import SavedView
from sureline.errors import InvalidInput
from sureline.web.pages.page import Page, Visit, redirect
from sureline.web.pages.tabs import saved_views, tabs_of
from sureline.web.reply import Reply

LONGEST_NAME = 40
MOST_VIEWS = 12
"""Of one person."""


async def change(visit: Visit) -> Reply:
    """Do what the pressed button says, and show the view. Raises InvalidInput and Conflict."""
    services, reviewer = visit.context.services, visit.signed_in.key.name
    name = " ".join(visit.form.get("name", "").split())
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise InvalidInput(f"expected 1 to {LONGEST_NAME} characters", field="name")
    store = services.store.views
    if visit.form.get("act") == "delete":
        await store.delete(services.workspace, reviewer, name)
        return redirect(f"/?{visit.view.query or 'all=1'}")
    if visit.form.get("act") != "save":
        raise InvalidInput("expected one of the buttons", field="act")
    view = SavedView(name=name, filter=visit.view.query, opens=visit.form.get("opens") == "1")
    await store.save(services.workspace, reviewer, view, most=MOST_VIEWS)
    return redirect(f"/?{visit.view.query or 'all=1'}")


async def show(visit: Visit) -> Reply:
    """Return the tabs with their counts, as a part of the inbox; for a script."""
    counts = await visit.context.live.counts()
    tabs = await tabs_of(visit, await saved_views(visit), visit.view, counts, anew=True)
    return visit.html("tabs.html.j2", tabs=tabs)


PAGES = (
    Page(method="GET", path="/views", run=show),
    Page(method="POST", path="/views", run=change),
)
