"""What a list says of an item of the review queue beyond the item itself."""

from __future__ import annotations

from dataclasses import dataclass

LONGEST_TASK = 200
"""Characters of a task that a list shows and a search reads."""
LONGEST_FOUND = 120
"""Characters of what was found, likewise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewLine:
    """What a list says of one item; task and finding quote the payload, so it is erasable.

    `reasons` are the codes of why it is here. `found` begins with the field that it is about; it
    is empty where nothing was found. `confidence` in [0, 1] is None where nothing was measured.
    """

    task: str = ""
    reasons: tuple[str, ...] = ()
    found: str = ""
    confidence: float | None = None
