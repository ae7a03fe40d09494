"""Some of many names, in one line."""

from __future__ import annotations

from collections.abc import Sequence

MOST = 3
"""Names that a sentence spells out."""


def listed(names: Sequence[str], *, most: int = MOST) -> str:
    """Return the first `most` names with commas, and how many more there are."""
    more = len(names) - most
    said = ", ".join(names[:most])
    return f"{said} and {more} more" if more > 0 else said
