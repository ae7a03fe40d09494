"""Recalls as they are kept, and what they cover."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sureline.core.values.recall import Covered, Recall, RecallWanted
from sureline.core.values.review import Review
from sureline.core.values.review_line import ReviewLine

RECALL = "recall"
"""The kind of an activation that begins a recall: its note says what and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallPage:
    """Some of what is covered; `next_mark` is where to go on, None at the end."""

    covered: tuple[Covered, ...]
    next_mark: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What an item is about: the digest of its output, and its task."""

    digest: str
    task: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CalledBack:
    """A decision that is called back, with its item and that one's line; None if it was erased."""

    decision_id: str
    review: Review | None
    line: ReviewLine | None


class RecallStore(Protocol):
    """Keeps recalls, and what was called back: each decision once, whoever else is at it."""

    async def horizon(self) -> int:
        """Return the newest place in the ledger."""

    async def page(
        self, workspace: str, wanted: RecallWanted, *, after: int, until: int
    ) -> RecallPage:
        """Return what is covered between two places of the ledger, a page of it."""

    async def contents(self, marks: Sequence[int]) -> Sequence[Content | None]:
        """Return the content at each place, None where it was erased."""

    async def start(self, recall: Recall) -> Recall:
        """Begin a recall, in the ledger; one of the same that is not finished is gone on with.

        From then on no approval that it covers can be used.
        """

    async def advance(
        self, recall: Recall, rows: Sequence[CalledBack], *, done_mark: int, at: datetime
    ) -> Recall:
        """Call back what was not called back before, in one transaction; return how far it is.

        Where somebody else has gone on with this recall meanwhile, nothing is done. At its end it
        is finished.
        """

    async def get(self, workspace: str, recall_id: str) -> Recall | None:
        """Return a recall, or None."""

    async def list(
        self, workspace: str, *, only_unfinished: bool = False, limit: int = 100
    ) -> Sequence[Recall]:
        """Return recalls, the newest first."""
