"""An item of the review queue: one output, or one audit, that a person is to look at (R3, R4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from sureline.core.values.hours import WorkingHours
from sureline.core.values.outcome import Action


class ReviewKind(StrEnum):
    """Why a person looks at it."""

    REVIEW = "review"
    """The gate sent it to a person, who decides about it."""
    AUDIT = "audit"
    """It acted on its own and was drawn: its auditor sees nothing of the gate's view."""
    RECALL = "recall"
    """It acted on its own and was called back: somebody is to say whether it was right."""

    @property
    def has_acted(self) -> bool:
        """Tell whether its output is out in the world: nothing is released by a verdict."""
        return self is not ReviewKind.REVIEW


class ReviewState(StrEnum):
    """Where an item stands."""

    PENDING = "pending"
    CLAIMED = "claimed"
    """Somebody is at it, until the lease ends."""
    ESCALATED = "escalated"
    """It waits for somebody further up."""
    DECIDED = "decided"
    EXPIRED = "expired"
    """Nobody decided in time; that is never an approval (R5)."""
    SUPERSEDED = "superseded"
    """Another attempt took its place, or its payload was erased."""

    @property
    def is_open(self) -> bool:
        """Tell whether somebody can still decide."""
        return self in {ReviewState.PENDING, ReviewState.CLAIMED, ReviewState.ESCALATED}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewRules:
    """How a slice's items are reviewed.

    An item that nobody has decided by its `deadline` goes a step up, `escalations` times, each
    with a new deadline; then it expires. A claim holds for `lease` without a heartbeat. A verdict
    can be taken back for `undo`. `approvals` is how many different people must approve.
    `not_by` are people to whom it is not offered, for they have seen it before. With `answer_first`
    the output is shown to those only who have said before what is right. `hours` are those in
    which the deadline counts, by level; the last of them holds from there on, and without any it
    counts on the clock.
    """

    deadline: timedelta = timedelta(days=1)
    escalations: int = 1
    lease: timedelta = timedelta(minutes=15)
    undo: timedelta = timedelta(seconds=10)
    approvals: int = 1
    not_by: tuple[str, ...] = ()
    answer_first: bool = False
    hours: tuple[WorkingHours | None, ...] = ()

    def hours_at(self, level: int) -> WorkingHours | None:
        """Return the hours in which the deadline of a level counts, None for the clock."""
        return self.hours[min(level, len(self.hours) - 1)] if self.hours else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a person decided about an item.

    `digest` is that of the content that was shown. `edited` is the whole output as it shall be,
    for an edit, and `edited_fields` is where it differs from the proposal. `reason` is a chip's
    code. `anchored` says that the proposal was in sight; `seconds` is how long it took, None if
    not known. `correct` is what it means as a label. `recorded` says that it was given outside the
    queue: it is in the ledger already, with all that was said before it, and is not taken back.
    """

    action: Action
    by: str
    digest: str
    at: datetime
    edited: Any = None
    edited_fields: tuple[str, ...] = ()
    reason: str | None = None
    comment: str | None = None
    anchored: bool = True
    seconds: float | None = None
    correct: bool | None = None
    recorded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One item of the queue, at one moment.

    `digest` is that of the content to decide on and `version` counts its changes. `rank` orders
    by stakes, `uncertainty` in [0, 1] among equals. `level` counts the steps up it has gone,
    `stepped_at` is when it went the last of them.
    `claimed_at` is since when it is before its holder.
    `given` is what people said and did not take back, oldest first: an edit among it made the
    content to decide on. `released` says that what was said has been handed out and stands.
    """

    workspace: str
    id: str
    decision_id: str
    slice_key: str
    kind: ReviewKind
    rank: int
    uncertainty: float
    digest: str
    opened_at: datetime
    deadline: datetime
    rules: ReviewRules
    submitted_by: str | None = None
    state: ReviewState = ReviewState.PENDING
    version: int = 1
    level: int = 0
    stepped_at: datetime | None = None
    claimed_by: str | None = None
    claimed_at: datetime | None = None
    lease_until: datetime | None = None
    skipped_by: tuple[str, ...] = ()
    given: tuple[Verdict, ...] = ()
    release_at: datetime | None = None
    released: bool = False

    @property
    def verdict(self) -> Verdict | None:
        """Return the verdict that decided it, None while it is not decided."""
        decided = self.state is ReviewState.DECIDED
        return self.given[-1] if decided and self.given else None

    @property
    def draft(self) -> Verdict | None:
        """Return the edit that made the content to decide on, None where nobody edited."""
        edits = [one for one in self.given if one.action is Action.EDIT]
        return edits[-1] if edits else None

    @property
    def of_this_version(self) -> tuple[Verdict, ...]:
        """Return what was said of the content to decide on, the edit that made it first."""
        draft = self.draft
        return self.given if draft is None else self.given[self.given.index(draft) :]

    @property
    def approvals(self) -> tuple[str, ...]:
        """Return who approves the content to decide on; an editor approves by editing."""
        return tuple(one.by for one in self.of_this_version if one.action is not Action.REJECT)

    def is_held(self, now: datetime) -> bool:
        """Tell whether somebody's claim holds now."""
        return (
            self.state is ReviewState.CLAIMED
            and self.lease_until is not None
            and now < self.lease_until
        )
