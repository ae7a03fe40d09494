"""What went through the queue, as counts by day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sureline.core.values.queue_flow import FlowCell
from sureline.core.values.review import ReviewKind


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowCount:
    """How many items of a slice and kind were counted in a cell."""

    slice_key: str
    kind: ReviewKind
    cell: FlowCell
    count: int


class QueueFlow(Protocol):
    """Reads the counts that are kept as items change."""

    async def since(self, workspace: str, day: int) -> Sequence[FlowCount]:
        """Return all counts from a day on, oldest first; no count is zero."""
