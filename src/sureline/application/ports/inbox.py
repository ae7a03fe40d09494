"""The review queue as somebody looks for something in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from sureline.application.ports.reviews import Step, Wanted
from sureline.core.values.review import Review
from sureline.core.values.review_line import ReviewLine

LOOKED_AT = 2_000
"""How many items, in working order, one search looks at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """What narrows a list; nothing in it is left out.

    `text` is found where each of its words is part of the item's task, slice, ids, reasons or first
    finding, in capitals or not. `reason` is a code, `rank` the stakes. `due_by` keeps what has to
    be decided by then, `is_up` what is a step up, `is_held` what somebody is at, `held_by` what
    this one is.
    """

    text: str = ""
    reason: str = ""
    rank: int | None = None
    due_by: datetime | None = None
    is_up: bool = False
    is_held: bool = False
    held_by: str | None = None

    @property
    def words(self) -> tuple[str, ...]:
        """Return what has to be found, in one case."""
        return tuple(self.text.casefold().split())

    @property
    def is_anything(self) -> bool:
        """Tell whether nothing is narrowed."""
        return self == Sought()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A page of what was found; `lines` are by id, without those that were erased.

    `more` says that there is another page, `is_whole` that nothing was left unseen: a search
    looks at the first `LOOKED_AT` items alone.
    """

    items: Sequence[Review] = ()
    lines: Mapping[str, ReviewLine] = field(default_factory=dict)
    more: bool = False
    is_whole: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundCount:
    """How many were found; there may be more where `is_whole` is False."""

    count: int
    is_whole: bool


class InboxStore(Protocol):
    """Finds items of the queue at a cost that does not grow with it."""

    async def find(
        self,
        workspace: str,
        wanted: Wanted,
        sought: Sought,
        *,
        now: datetime,
        limit: int,
        offset: int = 0,
    ) -> Found:
        """Return a page in working order; of what is over, the newest first."""

    async def lines(self, workspace: str, ids: Sequence[str]) -> Mapping[str, ReviewLine]:
        """Return the lines of items by id, without those that were erased."""

    async def count(
        self, workspace: str, wanted: Wanted, sought: Sought, *, now: datetime, most: int
    ) -> FoundCount:
        """Return how many there are, counting no further than `most`."""

    async def claim_next(
        self,
        workspace: str,
        wanted: Wanted,
        sought: Sought,
        step: Step,
        *,
        by: str,
        now: datetime,
        after: str | None = None,
    ) -> Review | None:
        """Do a step with the first of these that `by` holds or may take; None without one.

        `after` is an item that is not meant: the search goes on behind it, and then from the
        beginning.
        """
