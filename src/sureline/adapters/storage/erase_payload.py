"""Erases what quotes a decision's payload, and puts on record that it was erased."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import bindparam, delete, select, union

from sureline.adapters.storage.labels import BY_DECISION, labelled
from sureline.adapters.storage.mission_words import forget_verdict
from sureline.adapters.storage.moments import from_micros, to_micros
from sureline.adapters.storage.queued import forget_reviews
from sureline.adapters.storage.remade_vectors import remade_vectors
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.subjects import subjects
from sureline.adapters.storage.tables import erasures, outcomes, payloads, vectors
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.audits import Erasure
from sureline.core.chain import erasure_body
from sureline.errors import NotFound

_APART = (payloads, vectors, remade_vectors, subjects)
"""What lies apart from the ledger, each under the place of its row there."""
_OUTCOMES = compiled(
    select(outcomes.c.seq)
    .where(
        outcomes.c.workspace == bindparam("workspace"),
        outcomes.c.decision_id == bindparam("decision_id"),
        outcomes.c.payload_digest.is_not(None),
    )
    .order_by(outcomes.c.seq)
)
_KEPT = compiled(
    union(
        *(
            select(table.c.seq).where(
                table.c.stream == bindparam(f"{table.name}_stream"),
                table.c.seq == bindparam(f"{table.name}_seq"),
            )
            for table in _APART
        )
    )
)
_DELETE = tuple(
    compiled(
        delete(table).where(
            table.c.stream == bindparam("of_stream"), table.c.seq == bindparam("of_seq")
        )
    )
    for table in _APART
)

ERASURES = compiled(
    select(
        erasures.c.workspace,
        erasures.c.slice_key,
        erasures.c.decision_id,
        erasures.c.by,
        erasures.c.reason,
        erasures.c.erased_at,
    )
    .where(erasures.c.workspace == bindparam("workspace"))
    .order_by(erasures.c.seq)
)
"""A workspace's erasures, oldest first."""


def stored_erasure(row: tuple[Any, ...]) -> Erasure:
    """Build the value from a row of `ERASURES`."""
    return Erasure(
        workspace=row[0],
        slice_key=row[1],
        decision_id=row[2],
        by=row[3],
        reason=row[4],
        erased_at=from_micros(row[5]),
    )


@dataclass(frozen=True, slots=True)
class ErasePayload:
    """The job of erasing one decision's payload, vector and the comments on it."""

    workspace: str
    decision_id: str
    by: str
    reason: str
    at: datetime

    def __call__(self, transaction: Transaction) -> bool:
        """Erase it; False if there is nothing left to erase. Raises NotFound."""
        found = transaction.first(BY_DECISION, (self.workspace, self.decision_id))
        if found is None:
            raise NotFound(f"there is no decision {self.decision_id!r} in this workspace")
        decision = labelled(found)
        forget_reviews(transaction, self.workspace, self.decision_id)
        forget_verdict(transaction, self.workspace, self.decision_id)
        comments = transaction.all(_OUTCOMES, (self.workspace, self.decision_id))
        common = transaction.stream_of("erasure")
        places = [
            place
            for place in ((decision.stream, decision.seq), *((common, row[0]) for row in comments))
            if transaction.first(_KEPT, place * len(_APART)) is not None
        ]
        if not places:
            return False
        for statement in _DELETE:
            transaction.run_many(statement, places)
        transaction.chain(
            "erasure",
            {
                "workspace": self.workspace,
                "slice_key": decision.slice_key,
                "decision_id": self.decision_id,
                "by": self.by,
                "reason": self.reason,
                "erased_at": to_micros(self.at),
            },
            body=erasure_body(common, places),
        )
        transaction.scrub = True
        return True
