"""Say how many there are of something."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Return `1 label` or `2 labels`; the plural only takes an s."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
