"""The table of what goes through the queue, and how changes of items count in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sqlalchemy import Column, Integer, PrimaryKeyConstraint, Table

from sureline.adapters.storage.columns import metadata, text_column, whole_column
from sureline.adapters.storage.statement import adding
from sureline.adapters.storage.transaction import Transaction
from sureline.core.review.flow import flow_of
from sureline.core.values.review import Review

queue_days = Table(
    "queue_days",
    metadata,
    text_column("workspace"),
    whole_column("day"),
    text_column("slice_key"),
    text_column("kind"),
    text_column("flow"),
    Column("waited", Integer, nullable=False),
    whole_column("count"),
    PrimaryKeyConstraint("workspace", "day", "slice_key", "kind", "flow", "waited"),
)
"""Kept as items change: rates of a long queue cost no more than those of a short one."""

_ADD = adding(queue_days)


class FlowCounter:
    """Adds up what a batch of changes makes of the counts."""

    def __init__(self) -> None:
        self._counts: Counter[tuple[object, ...]] = Counter()

    def add(self, before: Review | None, after: Review) -> None:
        """Take in one change."""
        self._counts.update(_keys(after))
        if before is not None:
            self._counts.subtract(_keys(before))

    def remove(self, item: Review) -> None:
        """Take out an item that is deleted, as if it had never been there."""
        self._counts.subtract(_keys(item))

    def put(self, transaction: Transaction) -> None:
        """Write what has changed."""
        rows = [(*key, count) for key, count in self._counts.items() if count]
        transaction.run_many(_ADD, rows)


def _keys(item: Review) -> Iterator[tuple[object, ...]]:
    for one in flow_of(item):
        yield item.workspace, one.day, item.slice_key, item.kind.value, one.flow.value, one.waited
