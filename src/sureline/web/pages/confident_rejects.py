"""Outputs that scored high and were wrong, slice by slice, with a deduction to edit (L1)."""

from __future__ import annotations

from sureline.errors import PolicyError
from sureline.web.access import may_see
from sureline.web.pages.page import Page, Visit
from sureline.web.reply import Reply


async def show(visit: Visit) -> Reply:
    """List the high-scored mistakes of the slices that the key may see."""
    try:
        report = await visit.context.report()
    except PolicyError as error:
        return visit.html("no_policy.html.j2", here="confident", error=error.message)
    chosen = visit.query.get("slice", "")
    slices = [
        one
        for one in (report.slices if report is not None else ())
        if may_see(visit.signed_in.key, one.slice_key) and chosen in {"", one.slice_key}
    ]
    return visit.html("confident_rejects.html.j2", report=report, slices=slices, chosen=chosen)


PAGES = (Page(method="GET", path="/confident-rejects", run=show),)
