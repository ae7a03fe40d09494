"""How much waits, as a part of a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sureline.application.ports.keys import ApiKey
from sureline.application.ports.reviews import QueueCount
from sureline.core.values.review import ReviewState
from sureline.web.access import may_see
from sureline.web.pages.templates import render


def counts_part(key: ApiKey, counts: Sequence[QueueCount]) -> str:
    """Return the slices in which something waits, among those that a key may see, as HTML."""
    return render("counts.html.j2", {"waiting": waiting(key, counts)})


def waiting(key: ApiKey, counts: Sequence[QueueCount]) -> list[tuple[str, int, int]]:
    """Return the slices with open items: how many wait, and how many of them a step up."""
    open_ones: Counter[str] = Counter()
    escalated: Counter[str] = Counter()
    for one in counts:
        if one.state.is_open and may_see(key, one.slice_key):
            open_ones[one.slice_key] += one.count
            escalated[one.slice_key] += one.count * (one.state is ReviewState.ESCALATED)
    return [(key, count, escalated[key]) for key, count in sorted(open_ones.items())]
