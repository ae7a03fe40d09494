"""How long somebody looked at an item before they decided, by the server's own clock (R6)."""

from __future__ import annotations

from datetime import datetime, timedelta

from sureline.core.values.person import same_person
from sureline.core.values.review import Review

LONGEST = timedelta(hours=1)
"""What took longer was not looked at all the time: it counts as this much."""


def seconds_taken(
    item: Review,
    by: str,
    now: datetime,
    *,
    shown_at: datetime | None = None,
    in_sight: float | None = None,
) -> float | None:
    """Return the seconds from when an item came before somebody until `now`, None if not known.

    It came before them with their claim, or at `shown_at`, which a page of ours has signed; the
    earlier counts. `in_sight` is what a browser says: as nothing vouches for it, it can shorten
    the time (the page was covered by another one) and never prolong it.
    """
    claimed_at = item.claimed_at if same_person(item.claimed_by, by) else None
    known = [one for one in (claimed_at, shown_at) if one is not None and one <= now]
    if not known:
        return None
    taken = min(now - min(known), LONGEST).total_seconds()
    return taken if in_sight is None else min(taken, in_sight)
