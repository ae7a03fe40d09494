"""Erases a page of what is about one subject, in a transaction of its own."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, bindparam, func, literal_column, select

from sureline.adapters.storage.erase_mission import EraseMission, erased_event
from sureline.adapters.storage.erase_payload import ErasePayload
from sureline.adapters.storage.mission_rows import missions
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.subjects import subjects
from sureline.adapters.storage.tables import decisions
from sureline.adapters.storage.transaction import Transaction

_IS_ABOUT = (
    subjects.c.workspace == bindparam("workspace"),
    subjects.c.subject == bindparam("subject"),
)
_ITS_MISSIONS = (
    missions.c.workspace == bindparam("workspace"),
    missions.c.subject == bindparam("subject"),
)
ABOUT = compiled(
    select(
        select(func.count()).select_from(subjects).where(*_IS_ABOUT).scalar_subquery()
        + select(func.count()).select_from(missions).where(*_ITS_MISSIONS).scalar_subquery()
    )
)
"""How many decisions and missions about a subject are not erased."""
_MISSIONS = compiled(
    select(missions.c.id)
    .where(*_ITS_MISSIONS)
    .order_by(missions.c.id)
    .limit(bindparam("limit"))
    .offset(literal_column("0"))
)

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
    """The job of erasing up to `limit` missions or decisions about a subject, the oldest first.

    Each is erased with what it was found by, so that whoever comes again, after a crash too, goes
    on where it stopped. Missions come first, so that no other evaluation follows.
    """

    workspace: str
    subject: bytes
    limit: int
    by: str
    reason: str
    at: datetime

    def __call__(self, transaction: Transaction) -> int:
        """Erase them; return how many there were, 0 when all are gone."""
        named = (self.workspace, self.subject, self.limit)
        if found := transaction.all(_MISSIONS, named):
            for (mission_id,) in found:
                self._erase_mission(transaction, mission_id)
            return len(found)
        page = transaction.all(_PAGE, named)
        for (decision_id,) in page:
            ErasePayload(self.workspace, decision_id, self.by, self.reason, self.at)(transaction)
        return len(page)

    def _erase_mission(self, transaction: Transaction, mission_id: str) -> None:
        event = erased_event(self.workspace, mission_id, by=self.by, reason=self.reason, at=self.at)
        EraseMission(workspace=self.workspace, mission_id=mission_id, event=event)(transaction)
