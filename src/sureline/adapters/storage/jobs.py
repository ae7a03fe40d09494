"""The job store on a table: state, no ledger; one row a job."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import (
    Column,
    Integer,
    PrimaryKeyConstraint,
    Table,
    and_,
    bindparam,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.columns import metadata, text_column, whole_column
from sureline.adapters.storage.database import Database
from sureline.adapters.storage.dead_workers import held_by_dead
from sureline.adapters.storage.moments import (
    from_micros,
    micros_or_none,
    moment_or_none,
    to_micros,
)
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.jobs import JobState

jobs = Table(
    "jobs",
    metadata,
    text_column("workspace"),
    text_column("name"),
    whole_column("due_at"),
    whole_column("leased_until", null=True),
    text_column("owner", null=True),
    whole_column("started_at", null=True),
    whole_column("finished_at", null=True),
    Column("failures", Integer, nullable=False),
    text_column("message", null=True),
    PrimaryKeyConstraint("workspace", "name"),
)

_COLUMNS = tuple(column for column in jobs.columns if column.name != "workspace")
_OF = select(*_COLUMNS).where(jobs.c.workspace == bindparam("workspace"))
_ALL = compiled(_OF.order_by(jobs.c.name))
_ONE = compiled(_OF.where(jobs.c.name == bindparam("name")))
_insert = upsert(jobs)
_PUT = compiled(
    _insert.on_conflict_do_update(
        index_elements=["workspace", "name"],
        set_={column.name: _insert.excluded[column.name] for column in _COLUMNS[1:]},
    )
)
_LOST = and_(jobs.c.leased_until.is_not(None), held_by_dead(jobs.c.owner))
_SOME_LOST = compiled(
    select(jobs.c.name).where(_LOST).limit(literal_column("1")).offset(literal_column("0"))
)
_RELEASE = compiled(
    update(jobs)
    .values(leased_until=literal_column("NULL"), owner=literal_column("NULL"))
    .where(_LOST)
)


class SqlJobs:
    """Keeps what is remembered of jobs; see the port `JobStore` for the contract."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def claim(self, workspace: str, wanted: JobState, *, latest: datetime) -> JobState | None:
        """Lease a job that is due and free; the write lock makes it atomic."""
        now = wanted.started_at
        assert now is not None

        def write(transaction: Transaction) -> JobState | None:
            row = transaction.first(_ONE, (workspace, wanted.name))
            before = wanted if row is None else _state(row)
            leased = None if row is None else before.leased_until
            if (leased is not None and now < leased) or now < before.due_at <= latest:
                return None
            _put(transaction, workspace, wanted, before)
            return before

        return await self._database.write(write)

    async def finish(self, workspace: str, state: JobState) -> bool:
        """Write how a run ended, unless its lease was taken over: that is the fence (O23)."""

        def write(transaction: Transaction) -> bool:
            row = transaction.first(_ONE, (workspace, state.name))
            if row is None:
                return False
            held = _state(row)
            if held.leased_until is None or _claim_of(held) != _claim_of(state):
                return False
            _put(transaction, workspace, state, state)
            return True

        return await self._database.write(write)

    async def states(self, workspace: str) -> Sequence[JobState]:
        """Return what is remembered, by name."""
        return [_state(row) for row in await self._database.read(_ALL, (workspace,))]

    async def release_dead(self, seconds: float) -> int:
        """End the leases of dead workers; on PostgreSQL only, where the job server is."""
        if not await self._database.read(_SOME_LOST, (seconds,)):
            return 0
        return await self._database.write(lambda transaction: transaction.run(_RELEASE, (seconds,)))


def _claim_of(state: JobState) -> tuple[str | None, datetime | None]:
    return state.owner, state.started_at


def _put(transaction: Transaction, workspace: str, lease: JobState, rest: JobState) -> None:
    """Write the lease of one state and what another remembers."""
    values = {
        "workspace": workspace,
        "name": lease.name,
        "due_at": to_micros(rest.due_at),
        "leased_until": micros_or_none(lease.leased_until),
        "owner": lease.owner,
        "started_at": micros_or_none(lease.started_at),
        "finished_at": micros_or_none(rest.finished_at),
        "failures": rest.failures,
        "message": rest.message,
    }
    transaction.run(_PUT, _PUT.row(values))


def _state(row: Sequence[Any]) -> JobState:
    return JobState(
        name=row[0],
        due_at=from_micros(row[1]),
        leased_until=moment_or_none(row[2]),
        owner=row[3],
        started_at=moment_or_none(row[4]),
        finished_at=moment_or_none(row[5]),
        failures=row[6],
        message=row[7],
    )
