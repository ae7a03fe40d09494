"""Which sessions were ended, on their table."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, PrimaryKeyConstraint, Table, bindparam, delete, select
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.columns import metadata, text_column, whole_column
from sureline.adapters.storage.database import Database
from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.transaction import Transaction

ended_sessions = Table(
    "ended_sessions",
    metadata,
    text_column("workspace"),
    text_column("session"),
    whole_column("until"),
    PrimaryKeyConstraint("workspace", "session"),
)
"""One row for each session that somebody ended; after `until` its cookie is worth nothing."""

Index("ix_ended_sessions_until", ended_sessions.c.workspace, ended_sessions.c.until)

_END = compiled(upsert(ended_sessions).on_conflict_do_nothing())
_FORGET = compiled(
    delete(ended_sessions).where(
        ended_sessions.c.workspace == bindparam("workspace"),
        ended_sessions.c.until <= bindparam("now"),
    )
)
_ONE = compiled(
    select(ended_sessions.c.until).where(
        ended_sessions.c.workspace == bindparam("workspace"),
        ended_sessions.c.session == bindparam("session"),
    )
)


class SqlEndedSessions:
    """Keeps which sessions are over; see the port `EndedSessions` for the contract."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def end(self, workspace: str, session: str, *, now: datetime, until: datetime) -> None:
        """End a session, and forget those that have run out."""

        def write(transaction: Transaction) -> None:
            transaction.run(_FORGET, (workspace, to_micros(now)))
            transaction.run(_END, (workspace, session, to_micros(until)))

        await self._database.write(write)

    async def is_over(self, workspace: str, session: str) -> bool:
        """Tell whether a session was ended: one row by its key, read in place."""
        return bool(await self._database.read(_ONE, (workspace, session)))
