"""What erases more than one decision: everything about a subject, everything past its time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class Hold(StrEnum):
    """Why a payload that is past its time is kept all the same."""

    IN_QUEUE = "in_queue"
    """A person is to look at it, or a verdict can still be taken back."""
    TO_TELL = "to_tell"
    """A delivery about it waits; it may show fields that the policy names."""
    AUDIT = "audit"
    """It was drawn for the audit and has no audit label yet."""
    INCIDENT = "incident"
    """An incident about it is open."""
    GOLDEN = "golden"
    """An editor corrected it: it belongs to the golden set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastDue:
    """A decision with a payload that is past its time; `holds` are why it is kept, if it is."""

    decision_id: str
    slice_key: str
    holds: tuple[Hold, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DuePage:
    """A page of what is past its time; `after` is where the next one begins, None at the end."""

    found: Sequence[PastDue]
    after: str | None


class Erasures(Protocol):
    """Erases in pages, each in one short transaction that puts on record what it erased."""

    async def about(self, workspace: str, subject: bytes) -> int:
        """Return how many decisions and missions about a subject are not erased."""

    async def erase_subject(
        self,
        workspace: str,
        subject: bytes,
        *,
        limit: int,
        by: str,
        reason: str,
        at: datetime,
    ) -> int:
        """Erase up to `limit` of what is about a subject; return how many, 0 when all is gone.

        A mission that is not over fails: nobody could go on with it.
        """

    async def erase_late(
        self, workspace: str, *, limit: int, by: str, reason: str, at: datetime
    ) -> int:
        """Erase words about up to `limit` erased decisions; return of how many there were any."""

    async def forget_views(self, workspace: str, subject: str) -> int:
        """Delete the saved views that look for a subject's id; return how many there were."""

    async def past_due(
        self, workspace: str, before: Mapping[str, datetime], after: str | None
    ) -> DuePage:
        """Return the next page of payloads of decisions made before a slice's moment.

        `after` is where the page before ended. Slices that are not in `before` are left out.
        """

    async def erase_due(
        self,
        workspace: str,
        ids: Sequence[str],
        *,
        spared: frozenset[Hold],
        by: str,
        reason: str,
        at: datetime,
    ) -> int:
        """Erase those of these decisions that nothing holds now; return how many.

        `spared` are the holds that count. What was erased or never was there is left out.
        """

    async def past_missions(
        self, workspace: str, slice_key: str, before: datetime, *, after: str, limit: int
    ) -> Sequence[str]:
        """Return missions of a slice that ended before a moment and have their words still.

        Their ids come in order, those after `after`.
        """

    async def erase_missions(
        self, workspace: str, ids: Sequence[str], *, by: str, reason: str, at: datetime
    ) -> int:
        """Erase the words of these missions, not what their evaluations quote; return how many."""
