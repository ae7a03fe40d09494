"""What came in from elsewhere, and what was answered to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """One delivery: where it came from, under which id, and the digest of what it says."""

    workspace: str
    source: str
    id: str
    digest: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredReply:
    """What was answered; with `acted` something was done, otherwise it was refused."""

    status: int
    body: bytes
    acted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How far a delivery is: answered (`reply`), in work elsewhere, or the caller's to work on.

    `since` is when what it says first came in. `begun` says that somebody had begun with it, died,
    and may have done it already.
    """

    since: datetime
    begun: bool = False
    reply: StoredReply | None = None
    in_work: bool = False


class InboundStore(Protocol):
    """Keeps deliveries, so that none acts twice."""

    async def take(self, arrival: Arrival, *, now: datetime, until: datetime) -> Standing:
        """Take a delivery to work on until a moment, unless it is known.

        Known is the same id, and also another id with the same digest, unless that was refused.
        Raises Conflict where the id came before with another digest.
        """

    async def finish(self, arrival: Arrival, reply: StoredReply) -> None:
        """Write down what was answered."""

    async def give_up(self, arrival: Arrival) -> None:
        """Let go of a delivery with which nothing could be done; it may come again."""

    async def prune(self, workspace: str, before: datetime) -> int:
        """Forget what came before a moment."""
