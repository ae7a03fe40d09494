"""How much of the outbox is still to be told, and what never could be."""

from __future__ import annotations

from sqlalchemy import ColumnElement, bindparam, func, literal_column, select

from sureline.adapters.storage.database import Database
from sureline.adapters.storage.moments import from_micros
from sureline.adapters.storage.outbox_rows import deliveries, notices
from sureline.adapters.storage.statement import compiled
from sureline.application.ports.outbox import DeliveryState
from sureline.application.ports.outbox_standing import OutboxStanding

_WAITING: ColumnElement[str] = literal_column(f"'{DeliveryState.WAITING.value}'")
_DEAD: ColumnElement[str] = literal_column(f"'{DeliveryState.DEAD.value}'")
_OF = deliveries.c.workspace == bindparam("workspace")

_UNSPREAD = compiled(
    select(func.count(), func.min(notices.c.at)).where(
        notices.c.workspace == bindparam("workspace"), notices.c.spread_at.is_(None)
    )
)
_PENDING = compiled(
    select(func.count(), func.min(deliveries.c.created_at)).where(
        _OF, deliveries.c.state == _WAITING
    )
)
_UNTOLD = compiled(select(func.count()).where(_OF, deliveries.c.state == _DEAD))


class SqlOutboxStanding:
    """Counts on the indexes, whatever was told in the past."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self, workspace: str) -> OutboxStanding:
        """Return how the outbox stands. Raises StoreError."""
        (new,) = await self._database.read(_UNSPREAD, (workspace,))
        (waiting,) = await self._database.read(_PENDING, (workspace,))
        (dead,) = await self._database.read(_UNTOLD, (workspace,))
        since = [one for one in (new[1], waiting[1]) if one is not None]
        return OutboxStanding(
            waiting=new[0] + waiting[0],
            dead=dead[0],
            oldest=from_micros(min(since)) if since else None,
        )
