"""Marks a store that was restored from a backup: what it does not know of cannot act twice.

Which approvals were used after the backup was made is lost with the other rows of that time. So all
that could still be used count as used, and automation stays off until a person turns it on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import bindparam, exists, func, literal_column, or_, select, union

from sureline.adapters.storage.database import Database
from sureline.adapters.storage.erase_payload import ERASURES, stored_erasure
from sureline.adapters.storage.mission_rows import missions
from sureline.adapters.storage.moments import from_micros, to_micros
from sureline.adapters.storage.registry import chain_activation
from sureline.adapters.storage.statement import compiled, insertion
from sureline.adapters.storage.stored_switches import append_switch
from sureline.adapters.storage.tables import (
    CHAINED,
    activations,
    consumptions,
    decisions,
    erasures,
    outcomes,
)
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.audits import Erasure
from sureline.application.ports.registry import RESTORED, Activation
from sureline.core.evidence import MOMENTS
from sureline.core.values.decision import Route
from sureline.core.values.outcome import Action, OutcomeSource
from sureline.core.values.switch import Switch

LONGEST = timedelta(days=1)
"""No policy lets an automatic approval be used later than that."""
_USED = exists().where(
    consumptions.c.workspace == decisions.c.workspace,
    consumptions.c.decision_id == decisions.c.id,
)
_APPROVED = exists().where(
    outcomes.c.workspace == decisions.c.workspace,
    outcomes.c.decision_id == decisions.c.id,
    outcomes.c.source == bindparam("review"),
    or_(outcomes.c.action == bindparam("approve"), outcomes.c.action == bindparam("edit")),
)
_USABLE = compiled(
    select(decisions.c.workspace, decisions.c.id).where(
        ~_USED,
        or_(
            (decisions.c.route == bindparam("automatic"))
            & (decisions.c.created_at >= bindparam("since")),
            _APPROVED,
        ),
    )
)
_CONSUME = insertion(consumptions)
_WORKSPACES = compiled(
    union(
        select(decisions.c.workspace),
        select(activations.c.workspace),
        select(missions.c.workspace),
    )
)
_ERASED_IN = compiled(select(erasures.c.workspace).distinct().order_by(erasures.c.workspace))
_NEWEST = compiled(
    select(
        *(
            select(func.coalesce(func.max(table.c[MOMENTS[kind]]), literal_column("0")))
            .select_from(table)
            .scalar_subquery()
            for kind, table in CHAINED.items()
        )
    )
)


@dataclass(frozen=True, slots=True)
class MarkRestored:
    """The job of marking it, in every workspace; returns how many approvals count as used now."""

    by: str
    reason: str
    at: datetime

    def __call__(self, transaction: Transaction) -> int:
        """Mark it."""
        usable = transaction.all(
            _USABLE,
            _USABLE.row(
                {
                    "review": OutcomeSource.REVIEW,
                    "approve": Action.APPROVE,
                    "edit": Action.EDIT,
                    "automatic": Route.AUTO_APPROVE,
                    "since": to_micros(self.at - LONGEST),
                }
            ),
        )
        now = to_micros(self.at)
        transaction.insert(_CONSUME, [(workspace, name, now) for workspace, name in usable])
        for workspace in sorted({str(row[0]) for row in transaction.all(_WORKSPACES)}):
            self._stop(transaction, workspace)
        return len(usable)

    def _stop(self, transaction: Transaction, workspace: str) -> None:
        """Put the restoring on record and give everything to people."""
        chain_activation(
            transaction,
            Activation(
                workspace=workspace,
                kind=RESTORED,
                subject="store",
                by=self.by,
                at=self.at,
                note=self.reason,
            ),
        )
        switch = Switch(
            workspace=workspace,
            scope="global",
            on=True,
            reason=f"restored from a backup: {self.reason}",
            by=self.by,
            changed_at=self.at,
        )
        append_switch(switch, transaction)


def workspaces(database: Database) -> Sequence[str]:
    """Return the workspaces in which something was decided or activated."""
    return sorted({str(row[0]) for row in database.fetch(_WORKSPACES)})


def newest_moment(database: Database) -> datetime | None:
    """Return the moment of the newest row of the ledger, None if there is none."""
    newest = max(database.fetch(_NEWEST)[0])
    return from_micros(newest) if newest else None


def every_erasure(database: Database) -> Sequence[Erasure]:
    """Return the erasures of all workspaces, each workspace's oldest first."""
    return [
        stored_erasure(row)
        for (workspace,) in database.fetch(_ERASED_IN)
        for row in database.fetch(ERASURES, (workspace,))
    ]
