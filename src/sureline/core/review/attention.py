"""How a person works: how fast, how often they approve, how long in a row (R7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil
from statistics import median

from sureline.core.values.outcome import Action


@dataclass(frozen=True, slots=True, kw_only=True)
class DoneItem:
    """One verdict of a person; `seconds` is None where it is not known how long it took."""

    by: str
    slice_key: str
    action: Action
    at: datetime
    seconds: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFigures:
    """What somebody's verdicts look like.

    `median_seconds` and `p95_seconds` (the time that 95 % of the items took at most) are over the
    items whose time is known, None without any. `streak` counts the approvals since the last other
    verdict, `longest_streak` the most there were in a row. None of them shows by itself that
    somebody does not look: right outputs give long streaks.
    """

    items: int
    approved: int
    median_seconds: float | None
    p95_seconds: float | None
    streak: int
    longest_streak: int


def work_figures(items: Sequence[DoneItem]) -> WorkFigures:
    """Return the figures of one person's verdicts, in any order."""
    ordered = sorted(items, key=lambda one: one.at)
    streak = longest = 0
    for one in ordered:
        streak = streak + 1 if one.action is Action.APPROVE else 0
        longest = max(longest, streak)
    known = sorted(one.seconds for one in ordered if one.seconds is not None)
    return WorkFigures(
        items=len(ordered),
        approved=sum(one.action is Action.APPROVE for one in ordered),
        median_seconds=median(known) if known else None,
        p95_seconds=known[ceil(0.95 * len(known)) - 1] if known else None,
        streak=streak,
        longest_streak=longest,
    )
