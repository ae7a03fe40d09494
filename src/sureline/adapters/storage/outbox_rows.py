"""The tables of the outbox, and their rows as values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Column, Index, Integer, PrimaryKeyConstraint, Table, text
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.columns import metadata, text_column, whole_column
from sureline.adapters.storage.moments import from_micros, moment_or_none, to_micros
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.outbox import Delivery, DeliveryState
from sureline.core.values.notification import Notice, NoticeKind

notices = Table(
    "notices",
    metadata,
    text_column("workspace"),
    text_column("id"),
    text_column("kind"),
    text_column("slice_key"),
    text_column("review_id"),
    text_column("decision_id"),
    text_column("submitted_by", null=True),
    text_column("action", null=True),
    Column("level", Integer, nullable=False),
    whole_column("at"),
    text_column("facts"),
    whole_column("spread_at", null=True),
    PrimaryKeyConstraint("workspace", "id"),
)
"""Written with what they tell. `spread_at` is when their deliveries were made."""

_is_new = text("spread_at IS NULL")
Index(
    "ix_notices_new",
    notices.c.workspace,
    notices.c.at,
    notices.c.id,
    sqlite_where=_is_new,
    postgresql_where=_is_new,
)
Index("ix_notices_spread", notices.c.workspace, notices.c.spread_at)

deliveries = Table(
    "deliveries",
    metadata,
    text_column("workspace"),
    text_column("id"),
    text_column("notice_id"),
    text_column("channel"),
    text_column("state"),
    Column("tries", Integer, nullable=False),
    whole_column("created_at"),
    whole_column("due_at"),
    whole_column("finished_at", null=True),
    text_column("said", null=True),
    text_column("held_by", null=True),
    PrimaryKeyConstraint("workspace", "id"),
)
"""One row for each notice and channel. Who takes one puts `due_at` off: that is the lease.

`held_by` is the worker that has it: what a dead one held is due at once.
"""

_waits = text("state = 'waiting'")
Index(
    "ix_deliveries_due",
    deliveries.c.workspace,
    deliveries.c.channel,
    deliveries.c.due_at,
    sqlite_where=_waits,
    postgresql_where=_waits,
)
Index("ix_deliveries_listed", deliveries.c.workspace, deliveries.c.state, deliveries.c.created_at)
Index("ix_deliveries_notice", deliveries.c.workspace, deliveries.c.notice_id)
_is_held = text("held_by IS NOT NULL")
Index(
    "ix_deliveries_held",
    deliveries.c.held_by,
    sqlite_where=_is_held,
    postgresql_where=_is_held,
)

channels = Table(
    "channels",
    metadata,
    text_column("workspace"),
    text_column("name"),
    whole_column("used_until", null=True),
    text_column("closed_for", null=True),
    PrimaryKeyConstraint("workspace", "name"),
)
"""What is remembered of a channel: its pace, and for which target it is disabled."""

NOTICE_COLUMNS = tuple(column for column in notices.columns if column.name != "spread_at")
DELIVERY_COLUMNS = tuple(
    column
    for column in deliveries.columns
    if column.name not in {"workspace", "notice_id", "held_by"}
)
_PUT_NOTICE = compiled(upsert(notices).on_conflict_do_nothing())


def put_notices(transaction: Transaction, found: Iterable[Notice]) -> None:
    """Write notices; one that is known stays as it is."""
    rows = [(*_notice_row(one), None) for one in found]
    transaction.run_many(_PUT_NOTICE, rows)
    transaction.to_tell.update(row[0] for row in rows)


def _notice_row(notice: Notice) -> tuple[Any, ...]:
    return (
        notice.workspace,
        notice.id,
        notice.kind.value,
        notice.slice_key,
        notice.review_id,
        notice.decision_id,
        notice.submitted_by,
        notice.action,
        notice.level,
        to_micros(notice.at),
        json.dumps(dict(notice.facts)) if notice.facts else "{}",
    )


def notice_of(row: Sequence[Any]) -> Notice:
    """Build a notice from a row of NOTICE_COLUMNS."""
    values = dict(zip((column.name for column in NOTICE_COLUMNS), row, strict=True))
    return Notice(
        **{
            **values,
            "kind": NoticeKind(values["kind"]),
            "at": from_micros(values["at"]),
            "facts": json.loads(values["facts"]),
        }
    )


def delivery_of(row: Sequence[Any]) -> Delivery:
    """Build a delivery from a row of DELIVERY_COLUMNS and NOTICE_COLUMNS."""
    size = len(DELIVERY_COLUMNS)
    values = dict(zip((column.name for column in DELIVERY_COLUMNS), row[:size], strict=True))
    finished = values["finished_at"]
    return Delivery(
        id=values["id"],
        channel=values["channel"],
        notice=notice_of(row[size:]),
        state=DeliveryState(values["state"]),
        tries=values["tries"],
        created_at=from_micros(values["created_at"]),
        due_at=from_micros(values["due_at"]),
        finished_at=moment_or_none(finished),
        said=values["said"],
    )
