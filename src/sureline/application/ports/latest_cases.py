"""The latest labelled cases of one slice with their vectors, for reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sureline.application.ports.cases import PastCase


class LatestCases(Protocol):
    """Reads what people said last of one slice's cases; no more than is asked for is in memory."""

    async def latest(self, workspace: str, slice_key: str, limit: int) -> Sequence[PastCase]:
        """Return up to `limit` cases with a label and a vector, the latest label first.

        All are of the embedding model of the latest of them. What was erased, and a vector that
        is not the one that was recorded, is left out.
        """
