"""Counts second opinions: as decisions are written, and anew from the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import literal_column, select

from sureline.adapters.storage.count_tables import opinion_counts
from sureline.adapters.storage.statement import Statement, adding, compiled
from sureline.adapters.storage.tables import decisions
from sureline.core.values.opinion_use import FIGURES, uses_in

DAY = decisions.c.created_at // literal_column("86400000000")
"""The day number of a decision, as core/values/periods.py has it."""

ADD_OPINIONS = adding(opinion_counts)
STORED_OPINIONS = compiled(
    select(*opinion_counts.primary_key, *(opinion_counts.c[name] for name in FIGURES))
)
_KEY_LENGTH = len(opinion_counts.primary_key)
_DECISIONS = compiled(
    select(decisions.c.workspace, decisions.c.slice_key, DAY, decisions.c.stream, decisions.c.body)
)


class OpinionCounter:
    """Adds up the opinions of decisions; memory grows with their kinds, not with their number."""

    __slots__ = ("sums",)

    def __init__(self) -> None:
        self.sums: dict[tuple[Any, ...], tuple[int, ...]] = {}

    def add(self, workspace: str, slice_key: str, day: int, stream: str, body: bytes) -> None:
        """Take in one decision's lasting JSON."""
        for key, figures in uses_in(body):
            place = (
                workspace,
                slice_key,
                day,
                key.signal,
                key.asked,
                key.answered,
                key.end.value,
                key.reason,
                key.duration,
                stream,
            )
            before = self.sums.get(place)
            self.sums[place] = (
                figures
                if before is None
                else tuple(a + b for a, b in zip(before, figures, strict=True))
            )

    def rows(self) -> list[tuple[Any, ...]]:
        """Return the rows of the table."""
        return [(*key, *figures) for key, figures in self.sums.items()]


def opinions_by_ledger(
    each: Callable[[Statement, Sequence[Any]], Iterable[tuple[Any, ...]]],
) -> OpinionCounter:
    """Count the opinions of all decisions that the ledger holds."""
    counter = OpinionCounter()
    for workspace, slice_key, day, stream, body in each(_DECISIONS, ()):
        counter.add(workspace, slice_key, day, stream, body)
    return counter


def stored_opinions(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Yield each stored row as its key and then all its figures as one value."""
    for row in rows:
        yield *row[:_KEY_LENGTH], row[_KEY_LENGTH:]
