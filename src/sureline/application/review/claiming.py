"""Take an item that time may have changed meanwhile."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from sureline.application.ports.reviews import Changed, Step
from sureline.application.review.release import settled
from sureline.core.review import transitions
from sureline.core.values.review import Review

UNTOUCHED = timedelta(minutes=2)
"""How long a claim that nobody asked for holds: until its page gives the first sign of life."""


def claiming(by: str, now: datetime, *, most: timedelta | None = None) -> Step:
    """Return the step that claims an item, or leaves it to nobody where its time was over.

    The claim holds for `most` where that is less than the item's lease.
    """

    def step(current: Review) -> Changed:
        before = settled(current, now)
        if not before.item.state.is_open:
            return before
        return replace(before, item=transitions.claim(before.item, by, now, most=most))

    return step
