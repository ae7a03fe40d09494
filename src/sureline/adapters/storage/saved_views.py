"""The views that people keep, on their table."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import (
    Column,
    Integer,
    PrimaryKeyConstraint,
    Table,
    bindparam,
    delete,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.columns import metadata, text_column
from sureline.adapters.storage.database import Database
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.saved_views import SavedView
from sureline.errors import Conflict

saved_views = Table(
    "saved_views",
    metadata,
    text_column("workspace"),
    text_column("reviewer"),
    text_column("name"),
    text_column("filter"),
    Column("opens", Integer, nullable=False),
    PrimaryKeyConstraint("workspace", "reviewer", "name"),
)
"""`reviewer` is the name that a person's keys bear."""

_put = upsert(saved_views)
_PUT = compiled(
    _put.on_conflict_do_update(
        index_elements=["workspace", "reviewer", "name"],
        set_={name: _put.excluded[name] for name in ("filter", "opens")},
    )
)
_OWN = compiled(
    select(saved_views.c.name, saved_views.c.filter, saved_views.c.opens)
    .where(
        saved_views.c.workspace == bindparam("workspace"),
        saved_views.c.reviewer == bindparam("reviewer"),
    )
    .order_by(saved_views.c.name)
)
_CLOSE = compiled(
    update(saved_views)
    .values(opens=literal_column("0"))
    .where(
        saved_views.c.workspace == bindparam("of_workspace"),
        saved_views.c.reviewer == bindparam("of_reviewer"),
    )
)
DELETE_VIEW = compiled(
    delete(saved_views).where(
        saved_views.c.workspace == bindparam("workspace"),
        saved_views.c.reviewer == bindparam("reviewer"),
        saved_views.c.name == bindparam("name"),
    )
)


class SqlSavedViews:
    """The port `SavedViews`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def list(self, workspace: str, reviewer: str) -> Sequence[SavedView]:
        """Return a person's views by name."""
        rows = await self._database.read(_OWN, (workspace, reviewer))
        return [SavedView(name=name, filter=text, opens=bool(opens)) for name, text, opens in rows]

    async def save(self, workspace: str, reviewer: str, view: SavedView, *, most: int) -> None:
        """Keep a view in place of one of its name."""
        own = (workspace, reviewer)

        def write(transaction: Transaction) -> None:
            others = {row[0] for row in transaction.all(_OWN, own)} - {view.name}
            if len(others) >= most:
                raise Conflict(f"there are {most} views already; delete one first")
            if view.opens:
                transaction.run(_CLOSE, own)
            transaction.run(_PUT, (*own, view.name, view.filter, int(view.opens)))

        await self._database.write(write)

    async def delete(self, workspace: str, reviewer: str, name: str) -> bool:
        """Delete a view; False where there is none."""
        row = (workspace, reviewer, name)
        return bool(await self._database.write(lambda one: one.run(DELETE_VIEW, row)))
