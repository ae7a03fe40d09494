"""Where a decision stands in the ledger, and which were made last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerPlace:
    """A decision's place in the hash chain; `consumed_at` is when its approval was used, if so."""

    seq: int
    hash: bytes
    consumed_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestDecision:
    """A decision as a list shows it; `correct` is its label, None without one."""

    id: str
    slice_key: str
    route: str
    would_route: str | None
    score: float | None
    created_at: datetime
    correct: bool | None


class Provenance(Protocol):
    """Reads the ledger for people who look up single decisions."""

    async def place(self, workspace: str, decision_id: str) -> LedgerPlace | None:
        """Return where a decision stands, or None."""

    async def latest(
        self, workspace: str, slice_key: str, *, limit: int
    ) -> Sequence[LatestDecision]:
        """Return a slice's latest decisions, newest first.

        Only the newest 20,000 rows of the ledger are looked at, so that a rare slice costs no
        reading of the whole.
        """
