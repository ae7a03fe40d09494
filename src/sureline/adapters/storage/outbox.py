"""The outbox on its tables."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sureline.adapters.storage import outbox_queries as queries
from sureline.adapters.storage.database import Database
from sureline.adapters.storage.moments import from_micros, to_micros
from sureline.adapters.storage.outbox_rows import NOTICE_COLUMNS, delivery_of, notice_of
from sureline.adapters.storage.statement import json_list
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.outbox import Claiming, Delivery, DeliveryState
from sureline.core.review.notice import delivery_id
from sureline.core.values.notification import Notice
from sureline.errors import NotFound


class SqlOutbox:
    """Keeps notices and deliveries; see the port `OutboxStore` for the contract."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def spread(
        self, workspace: str, plan: Callable[[Notice], Sequence[str]], *, now: datetime, limit: int
    ) -> int:
        """Make deliveries of new notices; without any, nothing is locked."""
        if not self._database.fetch(queries.NEW, (workspace, 1)):
            return 0
        at, size = to_micros(now), len(NOTICE_COLUMNS)

        def write(transaction: Transaction) -> int:
            found = transaction.all(queries.NEW, (workspace, limit))
            made = [
                (workspace, delivery_id(notice.id, channel), notice.id, channel)
                for notice, is_over in ((notice_of(row[:size]), row[size] == 0) for row in found)
                if not (notice.kind.waits and is_over)
                for channel in plan(notice)
            ]
            first = (DeliveryState.WAITING.value, 0, at, at, None, None, None)
            transaction.run_many(queries.ADD, [(*one, *first) for one in made])
            transaction.run_many(queries.SPREAD, [(at, workspace, row[1]) for row in found])
            return len(found)

        return await self._database.write(write)

    async def due(self, workspace: str, now: datetime) -> Sequence[str]:
        """Return the channels for which deliveries are due."""
        return [row[0] for row in self._database.fetch(queries.DUE, (workspace, to_micros(now)))]

    async def claim(self, workspace: str, channel: str, how: Claiming) -> Sequence[Delivery]:
        """Take due deliveries; the write lock makes it atomic."""
        now, until = to_micros(how.now), to_micros(how.until)

        def write(transaction: Transaction) -> list[Delivery]:
            over = (DeliveryState.MOOT.value, now, workspace, channel, now)
            transaction.run(queries.END_MOOT, over)
            used = _used_until(transaction, workspace, channel)
            free = how.pace.free(used, how.now)
            most = how.most if how.together else min(how.most, free)
            if not free:
                return []
            rows = transaction.all(queries.TAKE, (workspace, channel, now, most))
            if rows:
                uses = 1 if how.together else len(rows)
                after = to_micros(how.pace.after(used, how.now, uses))
                transaction.run(queries.PACE, (workspace, channel, after, None))
            taken = [delivery_of(row) for row in rows]
            held = [(until, how.owner, workspace, one.id) for one in taken]
            transaction.run_many(queries.HOLD, held)
            return [replace(one, tries=one.tries + 1, due_at=how.until) for one in taken]

        return await self._database.write(write)

    async def give_back(self, workspace: str, taken: Sequence[Delivery], *, now: datetime) -> None:
        """Undo that they were taken, unless another has taken them since."""
        at = to_micros(now)
        changes = [(at, workspace, one.id, one.tries) for one in taken]
        await self._database.write(
            lambda transaction: transaction.run_many(queries.GIVE_BACK, changes)
        )

    async def finish(
        self,
        workspace: str,
        delivery: Delivery,
        *,
        now: datetime,
        state: DeliveryState,
        due_at: datetime | None = None,
        said: str | None = None,
    ) -> None:
        """Write how a try ended."""
        finished = None if state is DeliveryState.WAITING else to_micros(now)
        due = to_micros(delivery.due_at if due_at is None else due_at)
        last = None if state is DeliveryState.DELIVERED else delivery.tries
        change = (state.value, due, finished, said, workspace, delivery.id, last, last)
        await self._database.write(lambda transaction: transaction.run(queries.FINISH, change))

    async def close_channel(
        self, workspace: str, channel: str, *, now: datetime, said: str, mark: str | None = None
    ) -> int:
        """Let all that waits for a channel die."""

        def write(transaction: Transaction) -> int:
            if mark is not None:
                transaction.run(queries.CLOSE, (workspace, channel, None, mark))
            change = (DeliveryState.DEAD.value, to_micros(now), said, workspace, channel)
            return transaction.run(queries.END_ALL, change)

        return await self._database.write(write)

    async def closed(self, workspace: str) -> dict[str, str]:
        """Return the disabled channels with the marks of their targets."""
        return dict(self._database.fetch(queries.CLOSED, (workspace,)))

    async def list(
        self, workspace: str, *, state: DeliveryState | None, channel: str | None, limit: int
    ) -> Sequence[Delivery]:
        """Return deliveries, the newest first; read off the loop."""
        named, called = state.value if state else "", channel or ""

        def read() -> list[Delivery]:
            with self._database.reader() as fetch:
                rows = fetch(queries.LIST, (workspace, named, named, called, called, limit))
                return [delivery_of(row) for row in rows]

        return await asyncio.to_thread(read)

    async def get(self, workspace: str, delivery_id: str) -> Delivery | None:
        """Return a delivery, or None."""
        rows = self._database.fetch(queries.ONE, (workspace, delivery_id))
        return delivery_of(rows[0]) if rows else None

    async def replay(
        self, workspace: str, *, now: datetime, ids: Sequence[str], channel: str | None
    ) -> int:
        """Begin anew. Raises NotFound for an id that is not there, and changes nothing."""

        def write(transaction: Transaction) -> int:
            wanted = list(ids) or _dead(transaction, workspace, channel)
            rows = [transaction.first(queries.ONE, (workspace, one)) for one in wanted]
            for one, row in zip(wanted, rows, strict=True):
                if row is None:
                    raise NotFound(f"there is no delivery {one!r}")
            found = [delivery_of(row) for row in rows if row is not None]
            concerned = {one.channel for one in found} | ({channel} if channel else set())
            transaction.run(queries.REOPEN, (workspace, json_list(concerned)))
            at = to_micros(now)
            transaction.run_many(queries.ANEW, [(at, workspace, one.id) for one in found])
            transaction.to_tell.add(workspace)
            return len(found)

        return await self._database.write(write)

    async def release_dead(self, seconds: float) -> int:
        """Let be due what dead workers hold; on PostgreSQL only, where the job server is."""
        if not self._database.fetch(queries.SOME_LOST, (seconds,)):
            return 0
        return await self._database.write(
            lambda transaction: transaction.run(queries.RELEASE, (seconds,))
        )

    async def prune(self, workspace: str, before: datetime) -> int:
        """Forget what was over before a moment."""
        at = to_micros(before)

        def write(transaction: Transaction) -> int:
            gone = transaction.run(queries.FORGET, (workspace, at))
            transaction.run(queries.FORGET_NOTICES, (workspace, at))
            return gone

        return await self._database.write(write)


def _used_until(transaction: Transaction, workspace: str, channel: str) -> datetime | None:
    row = transaction.first(queries.USED, (workspace, channel))
    return None if row is None or row[0] is None else from_micros(row[0])


def _dead(transaction: Transaction, workspace: str, channel: str | None) -> list[Any]:
    called = channel or ""
    return [row[0] for row in transaction.all(queries.ALL_DEAD, (workspace, called, called))]
