"""The failure modes that a self-evaluation looks for, and what they take off 100 points (G1)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

FULL = 100
"""The points of an output to which no failure mode applies."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deduction:
    """A failure mode: its name, the points (1 to 100) it takes off, and when it applies."""

    id: str
    points: int
    text: str
    examples: tuple[str, ...] = ()


@lru_cache(maxsize=64)
def deductions_of(text: str) -> tuple[Deduction, ...]:
    """Read the deductions of a SelfEvaluationPolicy, in the order of the file."""
    return tuple(
        Deduction(
            id=one["id"],
            points=one["points"],
            text=one["text"],
            examples=tuple(one.get("examples", ())),
        )
        for one in json.loads(text)
    )


@lru_cache(maxsize=64)
def deductions_hash(text: str) -> str:
    """Return 16 hexadecimal digits that tell one list of deductions from another."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def points_taken(applied: Iterable[Deduction]) -> int:
    """Return the points of these failure modes together, each counted once; may exceed 100."""
    return sum({one.id: one.points for one in applied}.values())


def score(points: int) -> float:
    """Return the self-evaluation that `points` taken off leave, in [0, 1], never below 0."""
    return max(0, FULL - points) / FULL


def highest_composite(points: int, weight: float) -> float:
    """Return the highest composite, in [0, 1], that is left when `points` are taken off.

    `weight` is the self-evaluation's share of all weights; all other signals are taken to be 1.
    """
    return round(1.0 - weight * (1.0 - score(points)), 12)
