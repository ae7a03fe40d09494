"""The filters that people keep under a name of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedView:
    """A filter of the list as its address has it; `opens` says that the inbox opens with it."""

    name: str
    filter: str
    opens: bool = False


class SavedViews(Protocol):
    """Keeps views, each for one person."""

    async def list(self, workspace: str, reviewer: str) -> Sequence[SavedView]:
        """Return a person's views by name."""

    async def save(self, workspace: str, reviewer: str, view: SavedView, *, most: int) -> None:
        """Keep a view in place of one of its name; one at most opens the inbox.

        Raises Conflict where the person has `most` others already.
        """

    async def delete(self, workspace: str, reviewer: str, name: str) -> bool:
        """Delete a view; False where there is none."""
