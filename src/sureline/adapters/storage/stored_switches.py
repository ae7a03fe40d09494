"""Reads switches so that what cannot be read counts as on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, func, select

from sureline.adapters.storage.moments import from_micros, to_micros
from sureline.adapters.storage.outbox_rows import put_notices
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import switches
from sureline.adapters.storage.transaction import Transaction
from sureline.core.gate.routing import GUARD
from sureline.core.review.notice import switch_notice
from sureline.core.values.switch import Switch
from sureline.errors import StoreError

_COLUMNS = (
    switches.c.workspace,
    switches.c.scope,
    switches.c.on,
    switches.c.reason,
    switches.c.by,
    switches.c.changed_at,
)
_other = switches.alias("newer")
_NEWEST = switches.c.seq == (
    select(func.max(_other.c.seq))
    .where(_other.c.workspace == switches.c.workspace, _other.c.scope == switches.c.scope)
    .scalar_subquery()
)
ALL_NEWEST = select(*_COLUMNS).where(_NEWEST)
"""The newest row of every scope of every workspace."""
_ALL = ALL_NEWEST.where(switches.c.workspace == bindparam("workspace"))

NEWEST = compiled(_ALL.order_by(switches.c.scope))
"""The newest row of every scope of a workspace."""

EVERY = compiled(
    select(*_COLUMNS).where(switches.c.workspace == bindparam("workspace")).order_by(switches.c.seq)
)
"""Every row of a workspace, oldest first."""

NEWEST_IN = compiled(
    _ALL.where(
        switches.c.scope.in_([bindparam("everywhere"), bindparam("slice"), bindparam("batch")])
    )
)
"""The newest rows of three scopes."""


def scopes(slice_key: str, batch_id: str | None) -> tuple[str, str, str]:
    """Return the scopes that bear on a decision; without a batch, one is repeated."""
    return "global", f"slice:{slice_key}", "global" if batch_id is None else f"batch:{batch_id}"


def stored_switch(row: Sequence[Any]) -> Switch:
    """Build the value; anything but the integer 0 is on, an unreadable time is the epoch."""
    workspace, scope, on, reason, by, changed_at = row
    return Switch(
        workspace=str(workspace),
        scope=str(scope),
        on=not (isinstance(on, int) and on == 0),
        reason=str(reason),
        by=str(by),
        changed_at=from_micros(changed_at if isinstance(changed_at, int) else 0),
    )


def unreadable_switch(workspace: str, error: StoreError) -> Switch:
    """Stand in for switches that could not be read at all: everything goes to people."""
    return Switch(
        workspace=workspace,
        scope="global",
        on=True,
        reason=f"the switches cannot be read: {error.message}",
        by="sureline",
        changed_at=from_micros(0),
    )


def append_switch(switch: Switch, transaction: Transaction) -> None:
    """Write a switch row, and note what there is to tell of it."""
    head = transaction.chain(
        "switch",
        {
            "workspace": switch.workspace,
            "scope": switch.scope,
            "on": int(switch.on),
            "reason": switch.reason,
            "by": switch.by,
            "changed_at": to_micros(switch.changed_at),
        },
    )
    put_notices(transaction, [switch_notice(switch, head.seq, by_guard=switch.by == GUARD)])
