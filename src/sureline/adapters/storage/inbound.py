"""Deliveries that came in, on their table; the write lock makes taking one atomic."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, literal_column, or_, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.database import Database
from sureline.adapters.storage.inbound_rows import arrivals
from sureline.adapters.storage.moments import from_micros, to_micros
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.inbound import Arrival, Standing, StoredReply
from sureline.errors import Conflict

_IN = (
    arrivals.c.workspace == bindparam("workspace_"),
    arrivals.c.source == bindparam("source_"),
)
_ONE = (*_IN, arrivals.c.id == bindparam("id_"))
_KNOWN = compiled(
    select(
        arrivals.c.id,
        arrivals.c.digest,
        arrivals.c.since,
        arrivals.c.lease_until,
        arrivals.c.acted,
        arrivals.c.status,
        arrivals.c.reply,
    )
    .where(
        *_IN,
        or_(arrivals.c.id == bindparam("id_"), arrivals.c.digest == bindparam("digest_")),
    )
    .order_by(arrivals.c.since, arrivals.c.id)
)
_take = upsert(arrivals)
_TAKE = compiled(
    _take.on_conflict_do_update(
        index_elements=["workspace", "source", "id"],
        set_={"lease_until": _take.excluded.lease_until, "since": _take.excluded.since},
    )
)
_FINISH = compiled(
    update(arrivals)
    .values(
        acted=bindparam("acted_"),
        status=bindparam("status_"),
        reply=bindparam("reply_"),
    )
    .where(*_ONE)
)
_GIVE_UP = compiled(delete(arrivals).where(*_ONE, arrivals.c.status.is_(None)))
_OLD = compiled(
    select(literal_column("1"))
    .where(arrivals.c.workspace == bindparam("workspace_"), arrivals.c.since < bindparam("since_"))
    .limit(literal_column("1"))
    .offset(literal_column("0"))
)
_FORGET = compiled(
    delete(arrivals).where(
        arrivals.c.workspace == bindparam("workspace_"), arrivals.c.since < bindparam("since_")
    )
)


class SqlInbound:
    """Keeps what came in; see the port `InboundStore` for the contract."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def take(self, arrival: Arrival, *, now: datetime, until: datetime) -> Standing:
        """Take a delivery, or tell how far it is. Raises Conflict."""
        key = (arrival.workspace, arrival.source, arrival.id)

        def write(transaction: Transaction) -> Standing:
            rows = transaction.all(_KNOWN, (*key, arrival.digest))
            standing = _standing(arrival, rows, now)
            if standing.reply is None and not standing.in_work:
                since = to_micros(standing.since)
                row = (*key, arrival.digest, since, to_micros(until), 0, None, None)
                transaction.run(_TAKE, row)
            return standing

        return await self._database.write(write)

    async def finish(self, arrival: Arrival, reply: StoredReply) -> None:
        """Write down what was answered."""
        of = (arrival.workspace, arrival.source, arrival.id)
        change = (int(reply.acted), reply.status, reply.body, *of)
        await self._database.write(lambda transaction: transaction.run(_FINISH, change))

    async def give_up(self, arrival: Arrival) -> None:
        """Let go of a delivery with which nothing could be done."""
        of = (arrival.workspace, arrival.source, arrival.id)
        await self._database.write(lambda transaction: transaction.run(_GIVE_UP, of))

    async def prune(self, workspace: str, before: datetime) -> int:
        """Forget what came before a moment; without any, nothing is locked."""
        of = (workspace, to_micros(before))
        if not await self._database.read(_OLD, of):
            return 0
        return await self._database.write(lambda transaction: transaction.run(_FORGET, of))


def _standing(arrival: Arrival, rows: Sequence[Sequence[Any]], now: datetime) -> Standing:
    """Read from what is known what is to be done with a delivery. Raises Conflict."""
    since, begun, in_work = now, False, False
    for named, digest, came, lease, acted, status, reply in rows:
        own = named == arrival.id
        if own and digest != arrival.digest:
            raise Conflict("this delivery came before with another body; give each its own id")
        if status is not None and (own or acted):
            stored = StoredReply(status=status, body=reply, acted=bool(acted))
            return Standing(since=from_micros(came), reply=stored)
        if status is None:
            since, begun = min(since, from_micros(came)), True
            in_work = in_work or now < from_micros(lease)
    return Standing(since=since, begun=begun, in_work=in_work)
