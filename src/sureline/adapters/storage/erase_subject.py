"""Erases a page of the decisions about one subject, in a transaction of its own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, bindparam, func, literal_column, select

from sureline.adapters.storage.erase_payload import ErasePayload
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.subjects import subjects
from sureline.adapters.storage.tables import decisions
from sureline.adapters.storage.transaction import Transaction

_IS_ABOUT = (
    subjects.c.workspace == bindparam("workspace"),
    subjects.c.subject == bindparam("subject"),
)
ABOUT = compiled(select(func.count()).select_from(subjects).where(*_IS_ABOUT))
"""How many decisions about a subject are not erased."""

_PAGE = compiled(
    select(decisions.c.id)
    .select_from(
        subjects.join(
            decisions,
            and_(decisions.c.stream == subjects.c.stream, decisions.c.seq == subjects.c.seq),
        )
    )
    .where(*_IS_ABOUT)
    .order_by(subjects.c.stream, subjects.c.seq)
    .limit(bindparam("limit"))
    .offset(literal_column("0"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseSubjectPage:
    """The job of erasing up to `limit` of the decisions about a subject, the oldest first.

    Each is erased with its row of this table, so that whoever comes again, after a crash too, goes
    on where it stopped.
    """

    workspace: str
    subject: bytes
    limit: int
    by: str
    reason: str
    at: datetime

    def __call__(self, transaction: Transaction) -> int:
        """Erase them; return how many there were, 0 when all are gone."""
        page = transaction.all(_PAGE, (self.workspace, self.subject, self.limit))
        for (decision_id,) in page:
            ErasePayload(self.workspace, decision_id, self.by, self.reason, self.at)(transaction)
        return len(page)
