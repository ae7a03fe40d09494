"""Runs of the canaries in the ledger."""

from __future__ import annotations

import json
from collections.abc import Sequence

from sqlalchemy import bindparam, select

from sureline.adapters.storage.database import Database
from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.registry import chain_activation
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import canary_runs
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.registry import Activation
from sureline.core.canonical import canonical_json
from sureline.core.opinions.canary_record import run_from_record, run_record
from sureline.core.opinions.canary_run import CanaryRun

_RUNS = compiled(
    select(canary_runs.c.body)
    .where(canary_runs.c.workspace == bindparam("workspace"))
    .order_by(canary_runs.c.seq)
)


class SqlCanaryRuns:
    """Keeps runs of the canaries; see the port `CanaryRuns`."""

    def __init__(self, database: Database) -> None:
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
        """Return the runs that can be read, oldest first.

        One that somebody damaged speaks for nobody; verifying the ledger finds it.
        """
        read = (_read(body) for (body,) in await self._database.read(_RUNS, (workspace,)))
        return [run for run in read if run is not None]


def _read(body: bytes) -> CanaryRun | None:
    try:
        return run_from_record(json.loads(body))
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
