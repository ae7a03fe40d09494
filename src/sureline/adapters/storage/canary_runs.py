"""Runs of the canaries in the ledger."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import bindparam, select

from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.registry import chain_activation
from sureline.adapters.storage.sqlite_database import SqliteDatabase
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import canary_runs
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.registry import Activation
from sureline.core.canonical import canonical_json
from sureline.core.opinions.canary_record import run_from_record, run_record
from sureline.core.opinions.canary_run import CanaryRun
from sureline.errors import StoreCorrupt

_RUNS = compiled(
    select(canary_runs.c.id, canary_runs.c.body)
    .where(canary_runs.c.workspace == bindparam("workspace"))
    .order_by(canary_runs.c.seq)
)


class SqlCanaryRuns:
    """Keeps runs of the canaries; see the port `CanaryRuns`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def save(self, workspace: str, run: CanaryRun, standing: Activation | None) -> None:
        """Store a run, and with it, in one transaction, what it changes for the evaluator."""

        def write(transaction: Transaction) -> None:
            transaction.chain(
                "canary_run",
                {
                    "workspace": workspace,
                    "id": run.id,
                    "role": run.evaluator.role,
                    "asked": run.evaluator.asked,
                    "identity": run.identity,
                    "outcome": run.outcome,
                    "ran_at": to_micros(run.at),
                },
                body=canonical_json(run_record(run)),
            )
            if standing is not None:
                chain_activation(transaction, standing)

        await self._database.write(write)

    async def all(self, workspace: str) -> Sequence[CanaryRun]:
        """Return the runs, oldest first. Raises StoreCorrupt for one that cannot be read."""
        return [_read(*row) for row in self._database.fetch(_RUNS, (workspace,))]


def _read(run_id: str, body: bytes) -> CanaryRun:
    try:
        return run_from_record(json.loads(body))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise StoreCorrupt(
            f"the canary run {run_id} cannot be read; `sureline ledger verify` shows what changed"
        ) from error
