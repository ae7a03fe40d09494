"""Planted items: known errors that measure attention, and second looks at what was decided (R7).

A planted item is one of the queue like any other: whoever works on it cannot tell. What is said
of it goes neither to an agent nor into the ledger, and is no label.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from sureline.core.review.hours import deadline_at
from sureline.core.values.review import Review, ReviewKind, ReviewState

PAST_REJECT = "past_reject"
"""Where a known error is an output that somebody rejected, as it was."""


class PlantedFor(StrEnum):
    """Why an item was planted."""

    HONEYPOT = "honeypot"
    """Its output is known to be wrong."""
    SECOND = "second"
    """Somebody decided the same before; this one does not know what."""
    THIRD = "third"
    """Two disagreed about the same."""


class Unplanted(StrEnum):
    """Why no known error could be planted where one belonged."""

    NO_MATERIAL = "no_material"
    """No labelled output is left to make one of."""
    NOTHING_TO_CHANGE = "nothing_to_change"
    """What was right holds no figure, date or name that could plausibly be another."""
    CHECKS_CATCH_IT = "checks_catch_it"
    """Checks would reject every error that could be made, before a person sees it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """A planted item with what it is made of.

    `source_id` is the decision whose task, sources and (without `answer`) output it shows, `origin`
    how its error came about. `trigger` names the occasion: one item at most is planted for it.
    `body` is the decision that the reviewer is shown. For a second or third look `first_by` and
    `first_correct` are who decided first, and what it meant as a label.
    """

    review: Review
    purpose: PlantedFor
    source_id: str
    origin: str
    trigger: str
    body: bytes
    answer: bytes | None = None
    first_by: str | None = None
    first_correct: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedAnswer:
    """What somebody said of a planted item; `correct` is what it would mean as a label."""

    review_id: str
    slice_key: str
    purpose: PlantedFor
    by: str
    correct: bool
    seconds: float | None
    answered_at: datetime

    @property
    def caught(self) -> bool:
        """Tell whether the planted error was noticed: rejected, or edited beyond cosmetics."""
        return not self.correct


def is_place(ordinal: int, share: float, draw: float) -> bool:
    """Tell whether a planted item goes behind the `ordinal`-th item of a slice, from 1 on.

    One goes into each run of 1 / `share` items, at the place that `draw` in [0, 1), drawn anew for
    each run, settles: of fifty items at a share of a tenth five are planted, neither three nor
    nine, and none of the places can be foreseen. A share of 0 plants nothing.
    """
    if share <= 0:
        return False
    run = run_length(share)
    return (ordinal - 1) % run == int(draw * run)


def run_length(share: float) -> int:
    """Return how many items there are to one that is planted, for a share in (0, 1]."""
    return max(1, round(1 / share))


def planted_review(
    like: Review,
    *,
    new_id: str,
    digest: str,
    rank: int,
    uncertainty: float,
    not_by: tuple[str, ...],
    now: datetime,
) -> Review:
    """Return an item that looks like `like` does when it is new.

    `not_by` are those who have seen the content before and would know it. No agent brought it, so
    that none is told of it.
    """
    return Review(
        workspace=like.workspace,
        id=new_id,
        decision_id=new_id,
        slice_key=like.slice_key,
        kind=ReviewKind.REVIEW,
        state=ReviewState.PENDING,
        rank=rank,
        uncertainty=uncertainty,
        digest=digest,
        opened_at=now,
        deadline=deadline_at(like.rules, 0, now),
        rules=replace(like.rules, not_by=not_by),
    )


def disguised(body: dict[str, Any], new_id: str, now: datetime) -> dict[str, Any]:
    """Return a decision that went to a person as if it had just been made under another id."""
    return {**body, "id": new_id, "review_id": new_id, "created_at": now.isoformat()}
