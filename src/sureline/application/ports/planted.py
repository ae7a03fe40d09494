"""Planted items as they are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from sureline.application.ports.ledger import StoredDecision
from sureline.core.review.attention import DoneItem
from sureline.core.review.double_review import TwoAnswers
from sureline.core.review.honeypot import Planted, PlantedAnswer, Unplanted
from sureline.core.values.label_count import LabelCount
from sureline.core.values.outcome import Outcome
from sureline.core.values.review import Review


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """A labelled decision that a known error can be made of; its payload is still there.

    `by` gave the label.
    """

    decision_id: str
    correct: bool
    body: bytes
    answer: bytes
    request: bytes
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """What there is where something may be planted.

    `body` is the decision of the item that it would lie behind, `material` what there is to make
    it of, `ids` are those of the latest items of the slice, and `is_taken` tells whether an id is.
    """

    body: bytes
    material: Sequence[Material]
    ids: Sequence[str]
    is_taken: Callable[[str], bool]


Choose = Callable[[Review, int | None, Callable[[], Beside]], Planted | Unplanted | None]
"""What to plant behind an item: the item, its ordinal in the slice, what there is.

Without an ordinal it is a place at which something is owed, for there was nothing to plant when it
was passed. None where nothing belongs there, why where nothing could be planted.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenCase:
    """What an editor made of an output: `draft` as it came, `expected` as it should be."""

    decision_id: str
    slice_key: str
    task: str
    source: tuple[dict[str, Any], ...]
    draft: Any
    expected: Any
    edited_fields: tuple[str, ...]
    at: datetime


class PlantedStore(Protocol):
    """Keeps what was planted and what was said of it, apart from the ledger."""

    async def plant(self, workspace: str, choose: Choose, *, now: datetime) -> int:
        """Walk over the items that are new since the last time, and plant what `choose` returns.

        Each item is walked over once, whichever process does it; at the first time only `now` is
        noted. Where nothing could be planted something is owed: it is tried again, while the item
        is still open, once the slice has new labels. Returns how many were planted.
        """

    async def unplanted(self, workspace: str) -> Mapping[str, Unplanted]:
        """Return in which slices nothing could be planted the last time, and why."""

    async def ids_of(self, item: Review) -> Sequence[str]:
        """Return ids of the latest items of an item's slice, which show what they look like."""

    async def is_taken(self, workspace: str, one: str) -> bool:
        """Tell whether a decision or an item has an id."""

    async def open(self, planted: Planted) -> bool:
        """Plant an item; False if there is one for this trigger already, or its id is taken."""

    async def get(self, workspace: str, review_id: str) -> Planted | None:
        """Return a planted item, None if this is none."""

    async def content(self, workspace: str, review_id: str) -> StoredDecision | None:
        """Return what a planted item shows, as if it were a decision; None if this is none.

        `request` and `answer` are None where its source was erased.
        """

    async def outcomes(self, workspace: str, review_id: str) -> Sequence[Outcome]:
        """Return what a planted item's outcomes would be, oldest first; none of any other."""

    async def keep_own(
        self, workspace: str, review_id: str, *, by: str, answer: str, at: datetime
    ) -> None:
        """Keep what somebody said was right before they saw an output; the first answer stands."""

    async def own(self, workspace: str, review_id: str, by: str) -> str | None:
        """Return what somebody said was right before they saw it, None without an answer."""

    async def answered(self, workspace: str, review_id: str) -> Sequence[PlantedAnswer]:
        """Return what was said of a planted item."""

    async def answers(self, workspace: str, since: datetime) -> Sequence[PlantedAnswer]:
        """Return what was said of known errors, oldest first."""

    async def pairs(self, workspace: str, since: datetime) -> Sequence[TwoAnswers]:
        """Return what two people said of the same, oldest first."""

    async def done(self, workspace: str, since: datetime) -> Sequence[DoneItem]:
        """Return people's verdicts on items that were opened at or after `since`."""

    async def follow_ups(self, workspace: str, limit: int) -> Sequence[str]:
        """Return items that were released and not looked at again yet, oldest first."""

    async def followed(self, workspace: str, review_id: str) -> None:
        """Note that an item was looked at again."""

    async def forget(self, workspace: str, before: datetime) -> int:
        """Delete what single people said of planted items before a moment (L12)."""

    async def labels_by(
        self, workspace: str, slice_key: str, measurement_hash: str, *, since_week: int, by: str
    ) -> Sequence[LabelCount]:
        """Return the counted labels that one person gave, as `Ledger.label_counts` counts them."""

    async def golden(self, workspace: str, slice_key: str | None) -> Sequence[GoldenCase]:
        """Return the edits whose payloads are there, oldest first."""
