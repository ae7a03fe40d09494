"""Wire what whoever is on call reads."""

from __future__ import annotations

from sureline.adapters.storage.outbox_standing import SqlOutboxStanding
from sureline.application.operations import OperationsReader
from sureline.bootstrap.services import Services


def operations_of(services: Services) -> OperationsReader:
    """Return what reads how things stand beside decisions."""
    plugins, store = services.plugins, services.store

    def resting() -> dict[str, bool]:
        return {model: rests for ask in plugins.resting for model, rests in ask().items()}

    return OperationsReader(
        ledger=services.ledger,
        policies=services.policies,
        hard_switch=plugins.hard_switch,
        outbox=SqlOutboxStanding(store.database),
        jobs=store.jobs,
        missions=store.missions,
        resting=resting,
        clock=services.clock,
        workspace=services.workspace,
    )
