"""Erases the words of a mission, and what its evaluations quote."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, bindparam, literal_column, select, update

from sureline.adapters.storage.change_mission import ERASED, MISSION, NOBODY, write_step
from sureline.adapters.storage.erase_payload import ErasePayload
from sureline.adapters.storage.mission_rows import (
    COLUMNS,
    mission_of,
    missions,
)
from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import decisions, mission_events
from sureline.adapters.storage.transaction import Transaction
from sureline.core.chain import erasure_body
from sureline.core.mission.erasing import forgotten
from sureline.core.values.mission import Cause, EventKind, MissionEvent, MissionState
from sureline.core.values.mission_kind import MISSION_SLICE
from sureline.errors import NotFound, StoreCorrupt

REASON = "reason"
"""The fact of an erasure's event that says why; it stays in the ledger."""
_EVALUATIONS = compiled(
    select(mission_events.c.decision_id)
    .select_from(
        mission_events.join(
            decisions,
            and_(
                decisions.c.workspace == mission_events.c.workspace,
                decisions.c.id == mission_events.c.decision_id,
            ),
        )
    )
    .where(
        mission_events.c.workspace == bindparam("workspace"),
        mission_events.c.mission_id == bindparam("mission_id"),
    )
    .distinct()
    .order_by(mission_events.c.decision_id)
)
"""A mission's evaluations, as its timeline names them."""
_EMPTY = compiled(
    update(missions)
    .values(words=literal_column("NULL"), subject=literal_column("NULL"))
    .where(missions.c.workspace == bindparam("of_workspace"), missions.c.id == bindparam("of_id"))
)
ENDED = compiled(
    select(missions.c.id)
    .where(
        missions.c.workspace == bindparam("workspace"),
        missions.c.kind == bindparam("kind"),
        missions.c.ended_at < bindparam("before"),
        missions.c.words.is_not(None),
        missions.c.id > bindparam("after"),
    )
    .order_by(missions.c.id)
    .limit(bindparam("limit"))
    .offset(literal_column("0"))
)
"""Missions of a kind that are over for so long and have their words still."""
_KIND, _WORDS = ([column.name for column in COLUMNS].index(name) for name in ("kind", "words"))


def erased_event(
    workspace: str, mission_id: str, *, by: str, reason: str, at: datetime
) -> MissionEvent:
    """Return the event of an erasure; the job puts in how the mission stands then."""
    return MissionEvent(
        workspace=workspace,
        mission_id=mission_id,
        kind=EventKind.ERASED,
        at=at,
        state=MissionState.FAILED,
        cause=Cause.PERSON,
        invocation=0,
        by=by,
        facts={REASON: reason},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseMission:
    """The job of erasing one mission's words; `event` says who, when, and as a fact `reason` why.

    Without `evaluations` what these quote is left to its own erasure.
    """

    workspace: str
    mission_id: str
    event: MissionEvent
    evaluations: bool = True

    def __call__(self, transaction: Transaction) -> bool:
        """Erase them; False if there is nothing left to erase. Raises NotFound."""
        named = (self.workspace, self.mission_id)
        row = transaction.first(MISSION, named)
        if row is None:
            raise NotFound(f"there is no mission {self.mission_id!r}")
        erased = self._evaluations(transaction) if self.evaluations else 0
        if row[_WORDS] is None:
            return erased > 0
        try:
            before = mission_of(row)
        except StoreCorrupt:  # what cannot be read quotes all the same
            transaction.run(_EMPTY, named)
        else:
            event = self.event
            left = forgotten(before, at=event.at, by=event.by, facts=event.facts)
            write_step(transaction, before, left, b"")
        self._put_on_record(transaction, str(row[_KIND]))
        transaction.scrub = True
        return True

    def _put_on_record(self, transaction: Transaction, kind: str) -> None:
        """Write it down beside the erasures of decisions, which are done again after a restore."""
        transaction.chain(
            "erasure",
            {
                "workspace": self.workspace,
                "slice_key": f"{MISSION_SLICE}{kind}",
                "decision_id": self.mission_id,
                "by": self.event.by or NOBODY,
                "reason": self._reason,
                "erased_at": to_micros(self.event.at),
            },
            body=erasure_body(transaction.stream_of("erasure"), ()),
        )

    @property
    def _reason(self) -> str:
        reason = self.event.facts.get(REASON)
        return reason if isinstance(reason, str) and reason else ERASED

    def _evaluations(self, transaction: Transaction) -> int:
        """Erase what the evaluations quote; return of how many there was something."""
        return sum(
            ErasePayload(
                workspace=self.workspace,
                decision_id=one,
                by=self.event.by or NOBODY,
                reason=self._reason,
                at=self.event.at,
            )(transaction)
            for (one,) in transaction.all(_EVALUATIONS, (self.workspace, self.mission_id))
        )
