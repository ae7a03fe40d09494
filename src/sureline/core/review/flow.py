"""Count what goes through the queue, and how long it waits (R9)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from datetime import timedelta

from sureline.core.values.periods import day_number
from sureline.core.values.queue_flow import WAITS, Flow, FlowCell
from sureline.core.values.review import Review, ReviewState


def flow_of(item: Review) -> tuple[FlowCell, ...]:
    """Return what an item, as it is now, is counted under.

    What a step changes of the counts is the difference between before and after it, so that a
    verdict that was taken back is not counted any more.
    """
    opened = FlowCell(day=day_number(item.opened_at), flow=Flow.OPENED)
    if item.state is ReviewState.DECIDED and item.given:
        at = item.given[-1].at
        waited = wait_class(at - item.opened_at)
        return opened, FlowCell(day=day_number(at), flow=Flow.DECIDED, waited=waited)
    if item.state is ReviewState.EXPIRED:
        return opened, FlowCell(day=day_number(item.deadline), flow=Flow.EXPIRED)
    if item.state is ReviewState.SUPERSEDED:
        return opened, FlowCell(day=opened.day, flow=Flow.WITHDRAWN)
    return (opened,)


def wait_class(waited: timedelta) -> int:
    """Return the place in WAITS of a wait; what is longer than a year is in the last."""
    return min(bisect_left(WAITS, waited.total_seconds()), len(WAITS) - 1)


def quantile(counts: Mapping[int, int], share: float) -> int | None:
    """Return the upper end in seconds of the class in which a share in (0, 1] of waits lies.

    It is at most 1.42 times too high. None where nothing was counted.
    """
    total, seen = sum(counts.values()), 0
    for place in sorted(counts):
        seen += counts[place]
        if counts[place] > 0 and seen >= share * total:
            return WAITS[place]
    return None
