"""How second opinions ended and what they took, by day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sureline.core.values.opinion_use import OpinionKey


@dataclass(frozen=True, slots=True, kw_only=True)
class OpinionSums:
    """What opinions of one kind add up to.

    `count` opinions; the values of the `valued` ones add up to `value` (in millionths); the
    `costed` ones, whose cost is known, cost `cost` (in millionths of a US dollar); the `timed`
    ones took `ms` milliseconds; `metered` ones told their tokens. `cached` ones asked nothing.
    """

    count: int = 0
    value: int = 0
    valued: int = 0
    cost: int = 0
    costed: int = 0
    ms: int = 0
    timed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    metered: int = 0
    calls: int = 0
    retries: int = 0
    cached: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class OpinionDay:
    """The opinions of one kind about a slice's outputs of one day (a day number in UTC)."""

    slice_key: str
    day: int
    key: OpinionKey
    sums: OpinionSums


class OpinionCounts(Protocol):
    """Counts second opinions as decisions are recorded."""

    async def days(self, workspace: str, since_day: int) -> Sequence[OpinionDay]:
        """Return the counts of a workspace from a day on, oldest first."""
