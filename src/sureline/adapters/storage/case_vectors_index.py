"""Builds the index of a slice's past cases on PostgreSQL, and measures what it finds."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import psycopg
from numpy.typing import NDArray

from sureline.adapters.storage.case_vector_rows import (
    BY_ALL,
    Row,
    as_text,
    as_vector,
    by_index,
    index_ddl,
    index_name,
    indexed_type,
    set_to_search,
)
from sureline.adapters.storage.case_vectors import PostgresCaseVectors
from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.postgres_driver import LOCKS, Connection
from sureline.adapters.storage.postgres_errors import translated
from sureline.core.statistics.binomial import lower_bound
from sureline.errors import Refused

INDEX_LOCK = -2
"""The advisory lock of whoever builds an index: one at a time in a store."""
QUERIES = 200
TOP = 10
_LEVEL = 0.05
_NOISE = 1e-6
_POLL_SECONDS = 0.2
_MOST_MEMORY = 1 << 30

_SAMPLE = (
    "SELECT mark, vector_send(vector) FROM case_vectors WHERE scope = %s AND vector IS NOT NULL "
    "ORDER BY md5(decision_id) LIMIT %s"
)
_VALID = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"
_COUNT = "SELECT count(*) FROM case_vectors WHERE scope = %s AND vector IS NOT NULL"
_PROGRESS = (
    "SELECT coalesce(max(blocks_done::float / nullif(blocks_total, 0)), 0) "
    "FROM pg_stat_progress_create_index WHERE pid = %s"
)
_KEEP = (
    "UPDATE case_scopes SET recall = %s, recall_low = %s, queries = %s, rows_measured = %s, "
    "measured_at = %s WHERE id = %s"
)

Floats = NDArray[np.float32]
Told = Callable[[float], None]
"""Hears how much of an index is built, from 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """The share of true neighbours that an index found, over `queries` stored vectors.

    `low` is what it reaches at least, at 95 %. A query counts with its share of ten; a mere yes or
    no with the same mean would vary more, so the binomial bound is a careful one.
    """

    value: float
    low: float
    queries: int


class CaseIndexes:
    """Builds and measures indexes, on connections of its own."""

    def __init__(self, table: PostgresCaseVectors) -> None:
        self._table = table

    async def build(self, scope: int, dimension: int, told: Told) -> bool:
        """Build a scope's index while others read and write; tell whether half of one lay there.

        That is dropped first. Raises Refused while somebody else builds, and for vectors that no
        index takes. Whoever interrupts it leaves nothing behind.
        """
        if indexed_type(dimension) is None:
            raise Refused(f"no index takes vectors of {dimension} numbers; they are compared all")
        where = self._table.database.where
        with translated(where):
            builder = self._table.database.connect()
        try:
            with translated(where):
                builder.allow(None)
                had_half = await asyncio.to_thread(_begin, builder, scope, dimension)
                await self._built(builder, scope, dimension, told)
        finally:
            builder.close()
        return had_half

    async def measure(
        self, scope: int, dimension: int, now: datetime, *, queries: int = QUERIES
    ) -> Recall:
        """Ask for stored vectors by the index and exactly, and keep how often both agree."""

        def work() -> Recall:
            with translated(self._table.database.where), self._table.database.connect() as found:
                found.allow(None)
                return _measured(found, scope, dimension, now, queries)

        return await asyncio.to_thread(work)

    async def _built(self, builder: Connection, scope: int, dimension: int, told: Told) -> None:
        work = asyncio.create_task(
            asyncio.to_thread(builder.execute, index_ddl(scope, dimension).encode())
        )
        try:
            while not (await asyncio.wait([work], timeout=_POLL_SECONDS))[0]:
                told(await self._progress(builder))
            work.result()
        except BaseException:
            # Ctrl-C cancels every task, `work` too: its thread ends when the server gives up.
            builder.cancel_safe()
            await asyncio.wait([work])
            with suppress(psycopg.Error, asyncio.CancelledError):
                work.result()
            with suppress(psycopg.Error):
                await asyncio.to_thread(_give_up, builder, scope)
            raise
        told(1.0)

    async def _progress(self, builder: Connection) -> float:
        pid = builder.info.backend_pid
        row = await self._table.run(lambda found: found.execute(_PROGRESS, (pid,)).fetchone())
        return 0.0 if row is None else float(row[0])


def _begin(builder: Connection, scope: int, dimension: int) -> bool:
    """Take the lock, drop what an earlier building left, and ask for memory."""
    row = builder.execute("SELECT pg_try_advisory_lock(%s, %s)", (LOCKS, INDEX_LOCK)).fetchone()
    if row != (True,):
        raise Refused("another process builds an index of past cases; wait for its end")
    _take_time(builder)
    had_half = builder.execute(_VALID, (index_name(scope),)).fetchone() is not None
    if had_half:
        _drop(builder, scope)
    cases = (builder.execute(_COUNT, (scope,)).fetchone() or (0,))[0]
    needed = round(1.3 * cases * (4 * dimension + 500))
    kilobytes = min(max(needed, 1 << 26), _MOST_MEMORY) // 1024
    builder.execute(
        "SELECT set_config('maintenance_work_mem', greatest(%s, "
        "pg_size_bytes(current_setting('maintenance_work_mem')) / 1024)::text, false)",
        (kilobytes,),
    )
    return had_half


def _take_time(connection: Connection) -> None:
    """Let statements last: building waits for transactions that began earlier, too."""
    connection.execute("SET lock_timeout = 0")
    connection.execute("SET statement_timeout = 0")
    connection.answer_seconds = None


def _drop(builder: Connection, scope: int) -> None:
    builder.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {index_name(scope)}".encode())


def _give_up(builder: Connection, scope: int) -> None:
    """Drop what is half built; who cannot do it soon leaves it to the next building."""
    builder.execute("SET lock_timeout = '5s'")
    _drop(builder, scope)


def _measured(
    connection: Connection, scope: int, dimension: int, now: datetime, queries: int
) -> Recall:
    set_to_search(connection)
    _take_time(connection)
    shares = [
        _share(connection, scope, dimension, mark, as_vector(sent))
        for mark, sent in connection.execute(_SAMPLE, (scope, queries)).fetchall()
    ]
    found = sum(shares)
    value = found / len(shares) if shares else 0.0
    low = float(lower_bound(math.floor(found), len(shares), _LEVEL)) if shares else 0.0
    cases = (connection.execute(_COUNT, (scope,)).fetchone() or (0,))[0]
    row = (value, low, len(shares), cases, to_micros(now), scope)
    connection.execute(_KEEP, row)
    return Recall(value=value, low=low, queries=len(shares))


def _share(connection: Connection, scope: int, dimension: int, own: int, query: Floats) -> float:
    """Return which share of a stored vector's ten nearest others the index finds.

    Others that are as near as the tenth are as good: texts are often the same.
    """
    text, most = as_text(query), TOP + 1
    exact = connection.execute(BY_ALL.encode(), (text, scope, 0, most, scope)).fetchall()
    found = connection.execute(by_index(scope, dimension).encode(), (0, text, most)).fetchall()
    nearest = sorted(_similarities(exact, own, query), reverse=True)[:TOP]
    if not nearest:
        return 1.0
    good = sum(near >= nearest[-1] - _NOISE for near in _similarities(found, own, query))
    return min(good, len(nearest)) / len(nearest)


def _similarities(rows: Sequence[Row], own: int, query: Floats) -> list[float]:
    return [float(as_vector(row[3]) @ query) for row in rows if row[0] != own]
