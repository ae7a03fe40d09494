"""What a list says of an item of the review queue beyond the item itself."""

from __future__ import annotations

from dataclasses import dataclass

LONGEST_TASK = 200
"""Characters of a task that a list shows and a search reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewLine:
    """The beginning of an item's task, which quotes the payload, and why it is here, as codes."""

    task: str = ""
    reasons: tuple[str, ...] = ()
