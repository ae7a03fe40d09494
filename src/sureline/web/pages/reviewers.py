"""How people review: a page for the lead, and for each person about themselves (R7, L12)."""

from __future__ import annotations

from sureline.application.ports.keys import Role
from sureline.application.review.reviewer_words import WHAT_THEN, flag_reason
from sureline.application.review.unplanted_words import unplanted_sentence
from sureline.core.statistics.attention import Detection
from sureline.core.statistics.kappa import Kappa
from sureline.web.api.reviewers import REVIEWING, reviewers_seen
from sureline.web.pages.apart import apart
from sureline.web.pages.page import Page, Visit
from sureline.web.reply import Reply

WIDTH = 100
"""Units across a drawn interval."""


async def show(visit: Visit) -> Reply:
    """Show everybody to the lead, and to anybody else themselves alone."""
    services, key = visit.context.services, visit.signed_in.key
    report = await apart(lambda: reviewers_seen(services, key))
    return visit.html(
        "reviewers.html.j2",
        leads=key.role is Role.ADMIN,
        report=report,
        reason=flag_reason,
        what_then=WHAT_THEN,
        unplanted=unplanted_sentence,
        bar_of=noticed_bar,
        kappa_bar_of=kappa_bar,
    )


def noticed_bar(found: Detection) -> tuple[float, float, float] | None:
    """Return where the share noticed and its interval are drawn, None of nothing."""
    if found.share is None:
        return None
    low, high = found.interval
    return WIDTH * low, WIDTH * found.share, WIDTH * high


def kappa_bar(found: Kappa) -> tuple[float, float, float] | None:
    """Return where kappa and its interval are drawn, from -1 to 1; None where there is none."""
    if found.value is None:
        return None
    low, high = found.interval
    return tuple(WIDTH * (one + 1) / 2 for one in (low, found.value, high))  # type: ignore[return-value]


PAGES = (Page(method="GET", path="/reviewers", run=show, roles=REVIEWING),)
