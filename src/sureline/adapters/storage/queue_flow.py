"""Reads what went through the queue; see the port `QueueFlow` for the contract."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from sqlalchemy import bindparam, literal_column, select

from sureline.adapters.storage.database import Database
from sureline.adapters.storage.queue_flow_rows import queue_days
from sureline.adapters.storage.statement import compiled
from sureline.application.ports.queue_flow import FlowCount
from sureline.core.values.queue_flow import Flow, FlowCell
from sureline.core.values.review import ReviewKind

_SINCE = compiled(
    select(*(column for column in queue_days.columns if column.name != "workspace"))
    .where(
        queue_days.c.workspace == bindparam("workspace"),
        queue_days.c.day >= bindparam("day"),
        queue_days.c.count > literal_column("0"),
    )
    .order_by(*queue_days.primary_key)
)


class SqlQueueFlow:
    """Reads the counts."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def since(self, workspace: str, day: int) -> Sequence[FlowCount]:
        """Return all counts from a day on; read off the loop."""

        def read() -> list[FlowCount]:
            with self._database.reader() as fetch:
                return [
                    FlowCount(
                        slice_key=key,
                        kind=ReviewKind(kind),
                        cell=FlowCell(day=at, flow=Flow(flow), waited=waited),
                        count=count,
                    )
                    for at, key, kind, flow, waited, count in fetch(_SINCE, (workspace, day))
                ]

        return await asyncio.to_thread(read)
