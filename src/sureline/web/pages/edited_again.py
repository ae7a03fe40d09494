"""The item after its edit was taken back: as it was before, with the edit typed into its form."""

from __future__ import annotations

from dataclasses import replace

from sureline.core.values.review import Verdict
from sureline.web.pages.editing import typed_over
from sureline.web.pages.following import item_address
from sureline.web.pages.page import Visit
from sureline.web.pages.screen import policy_of, screen
from sureline.web.reply import Reply


async def edited_again(visit: Visit, verdict: Verdict) -> Reply:
    """Show the item with what `verdict` had made of it, to be changed and released anew."""
    review_id = visit.params["id"]
    item = await visit.context.services.desk.show(review_id)
    policy = await policy_of(visit, item.review.slice_key)
    typed = {} if verdict.edited is None else typed_over(item.output, verdict.edited, policy)
    said = {"comment": verdict.comment or "", "reason": verdict.reason or ""}
    form = {**typed, **said, "in": visit.view.query}
    address = item_address(visit, review_id)
    return await screen(replace(visit, form=form, query={}, address=address))
