"""What a store tells of its own work, for whoever watches it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

BATCH_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""Upper ends of the classes in which batches are counted; one more class has no end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreFigures:
    """A process's own figures since its start, apart from those that say now.

    `batches` counts group commits by the classes of BATCH_SECONDS, with one for all that took
    longer; `seconds` is the sum of what they took. `jobs` is what was written in them, `failed`
    counts the jobs that the store failed by the name of its error. Now `waiting` jobs wait for
    their batch, and `reading` connections of `readers` are lent.
    """

    batches: Sequence[int]
    seconds: float
    jobs: int
    failed: Mapping[str, int] = field(default_factory=dict)
    waiting: int = 0
    reading: int = 0
    readers: int = 0
