"""Verifying the ledger beside the work, and what is remembered of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from sureline.core.chain import Head
from sureline.core.chain_verification import ChainReport
from sureline.core.values.notification import Notice


class Extent(StrEnum):
    """How much of the ledger a verification reads."""

    WHOLE = "whole"
    TAIL = "tail"
    """What was written since a verification that held."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The latest verification of an extent, of the whole store and all its workspaces.

    It ended `at` a moment after reading `rows`; `said` is a sentence. `heads` is where the streams
    stood at the last one that held, `held_at` when that was; None if none ever did.
    """

    extent: Extent
    at: datetime
    ok: bool
    rows: int
    said: str
    held_at: datetime | None
    heads: Mapping[str, Head] = field(default_factory=dict)


class Verifications(Protocol):
    """Reads the chain gently, and remembers how that went."""

    async def verify(
        self, *, since: Mapping[str, Head] | None = None, earlier: Mapping[str, Head] | None = None
    ) -> ChainReport:
        """Verify in pages, resting after each as long as it took: others have work to do.

        `since` is where to go on in each stream; `earlier` is what the chain must run through.
        """

    async def latest(self) -> Sequence[Verification]:
        """Return the latest verification of each extent that there was one of."""

    async def put(self, verification: Verification, notice: Notice | None) -> None:
        """Remember a verification; tell the channels of the notice, in the same transaction."""
