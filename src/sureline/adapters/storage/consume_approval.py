"""Marks an approval as used, once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.labels import BY_DECISION
from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.recalls import refuse_recalled
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import consumptions
from sureline.adapters.storage.transaction import Transaction
from sureline.errors import NotFound

_CONSUME = compiled(upsert(consumptions).on_conflict_do_nothing())


@dataclass(frozen=True, slots=True)
class ConsumeApproval:
    """The job of using a decision's approval; whether it is one is the use case's question."""

    workspace: str
    decision_id: str
    at: datetime

    def __call__(self, transaction: Transaction) -> bool:
        """Mark it; False if it was used before. Raises NotFound, and Refused if called back."""
        if transaction.first(BY_DECISION, (self.workspace, self.decision_id)) is None:
            raise NotFound(f"there is no decision {self.decision_id!r} in this workspace")
        refuse_recalled(transaction, self.workspace, self.decision_id)
        row = (self.workspace, self.decision_id, to_micros(self.at))
        return transaction.run(_CONSUME, row) == 1
