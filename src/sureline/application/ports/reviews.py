"""The review queue as it is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from sureline.core.values.outcome import Outcome
from sureline.core.values.review import Review, ReviewKind, ReviewState


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """An item after a step, with what is to be written into the ledger with it."""

    item: Review
    outcomes: tuple[Outcome, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What an answer from outside the queue does: the item after it, None where it changes none.

    `before` goes into the ledger first, then `answer`.
    """

    item: Review | None
    answer: Outcome
    before: tuple[Outcome, ...] = ()


Hear = Callable[[Review | None, Sequence[Outcome]], Heard]
"""Takes the item that the decision opened and what was said of it, oldest first; may raise."""

Step = Callable[[Review], Changed]
"""What is done with an item; raises, and nothing is changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which items are meant: of these slices (empty: of all), of these kinds, open or over.

    Of the slices in `least`, open items are meant from so many steps up on; None: none of them.
    With `across` they were asked for whatever group works on them.
    """

    slices: tuple[str, ...] = ()
    kinds: tuple[ReviewKind, ...] = tuple(ReviewKind)
    is_open: bool = True
    least: Mapping[str, int | None] = field(default_factory=dict)
    across: bool = False

    def has(self, slice_key: str, level: int) -> bool:
        """Tell whether items of a slice are meant that have gone so many steps up."""
        least = self.least.get(slice_key, 0) if self.is_open else 0
        is_chosen = not self.slices or slice_key in self.slices
        return is_chosen and least is not None and level >= least


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCount:
    """How many items of a slice are in a state, and when the longest waiting one was opened."""

    slice_key: str
    kind: ReviewKind
    state: ReviewState
    count: int
    oldest: datetime


class ReviewStore(Protocol):
    """Keeps the items; a step is done whole or not at all, whoever else is at it."""

    async def get(self, workspace: str, review_id: str) -> Review | None:
        """Return an item, or None."""

    async def list(
        self, workspace: str, wanted: Wanted, *, limit: int, offset: int = 0
    ) -> Sequence[Review]:
        """Return items in the order in which they are to be worked on.

        Those that are over come by their opening, the newest first.
        """

    async def counts(self, workspace: str) -> Sequence[QueueCount]:
        """Return how long the queue is."""

    async def change(self, workspace: str, review_id: str, step: Step) -> Review:
        """Do a step, with its outcomes, in one transaction. Raises NotFound and what it raises."""

    async def hear(self, outcome: Outcome, hear: Hear) -> Outcome:
        """Write an answer from outside the queue and what it does there, in one transaction.

        Returns it as it was written; the one that has its id already, if it says the same. Raises
        NotFound without such a decision, Conflict for the same id with other content, and what
        `hear` raises.
        """

    async def claim_next(
        self, workspace: str, wanted: Wanted, step: Step, *, by: str, now: datetime
    ) -> Review | None:
        """Do a step with the first item that is free and that `by` may take; None without one.

        Where the step leaves the item to nobody, because its time was over, the next one is taken.
        """

    async def due(
        self, workspace: str, now: datetime, *, limit: int, offset: int = 0
    ) -> Sequence[str]:
        """Return items that time has changed: leases, deadlines, verdicts to be released."""
