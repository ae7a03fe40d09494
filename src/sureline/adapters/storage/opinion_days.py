"""Reads the counts of second opinions by day; see the port `OpinionCounts` for the contract."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, func, select

from sureline.adapters.storage.count_tables import opinion_counts
from sureline.adapters.storage.database import Database
from sureline.adapters.storage.statement import compiled
from sureline.application.ports.opinion_counts import OpinionDay, OpinionSums
from sureline.core.values.opinion_use import FIGURES, End, OpinionKey

_COUNTED = (
    opinion_counts.c.slice_key,
    opinion_counts.c.day,
    opinion_counts.c.signal,
    opinion_counts.c.asked,
    opinion_counts.c.answered,
    opinion_counts.c.end,
    opinion_counts.c.reason,
    opinion_counts.c.duration,
)
_DAYS = compiled(
    select(*_COUNTED, *(func.sum(opinion_counts.c[name]) for name in FIGURES))
    .where(
        opinion_counts.c.workspace == bindparam("workspace"),
        opinion_counts.c.day >= bindparam("since_day"),
    )
    .group_by(*_COUNTED)
    .order_by(opinion_counts.c.day, *_COUNTED)
)


class SqlOpinionCounts:
    """Sums the counts over streams, in a fixed order."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def days(self, workspace: str, since_day: int) -> Sequence[OpinionDay]:
        """Return the counts of a workspace from a day on, oldest first; read off the loop."""

        def read() -> Sequence[OpinionDay]:
            with self._database.reader() as fetch:
                return [_day(row) for row in fetch(_DAYS, (workspace, since_day))]

        return await asyncio.to_thread(read)


def _day(row: Sequence[Any]) -> OpinionDay:
    slice_key, day, signal, asked, answered, end, reason, duration, *figures = row
    return OpinionDay(
        slice_key=slice_key,
        day=day,
        key=OpinionKey(
            signal=signal,
            asked=asked,
            answered=answered,
            end=End(end),
            reason=reason,
            duration=duration,
        ),
        sums=OpinionSums(**dict(zip(FIGURES, map(int, figures), strict=True))),
    )
