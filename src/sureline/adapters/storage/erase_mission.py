"""Erases the words of a mission, and what its evaluations quote."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlalchemy import bindparam, literal_column, select, update

from sureline.adapters.storage.change_mission import ERASED, MISSION, NOBODY
from sureline.adapters.storage.erase_payload import ErasePayload
from sureline.adapters.storage.mission_rows import (
    COLUMNS,
    PUT,
    event_fields,
    mission_of,
    missions,
    row_of,
)
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import decisions
from sureline.adapters.storage.transaction import Transaction
from sureline.core.mission.erasing import forgotten
from sureline.core.values.mission import MissionEvent
from sureline.core.values.mission_kind import MISSION_SLICE
from sureline.errors import NotFound, StoreCorrupt

_EVALUATIONS = compiled(
    select(decisions.c.id, decisions.c.slice_key).where(
        decisions.c.workspace == bindparam("workspace"),
        decisions.c.id > bindparam("first"),
        decisions.c.id < bindparam("end"),
    )
)
"""Decisions whose ids begin like those of a mission's evaluations."""
_EMPTY = compiled(
    update(missions)
    .values(words=literal_column("NULL"), subject=literal_column("NULL"))
    .where(missions.c.workspace == bindparam("of_workspace"), missions.c.id == bindparam("of_id"))
)
_WORDS = next(place for place, column in enumerate(COLUMNS) if column.name == "words")


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
            left = forgotten(before, at=self.event.at)
            transaction.insert(PUT, [row_of(left, b"")])
            event = replace(
                self.event, state=left.state, cause=left.cause, invocation=left.invocations
            )
            transaction.chain("mission_event", event_fields(event))
        transaction.scrub = True
        return True

    def _evaluations(self, transaction: Transaction) -> int:
        """Erase what the evaluations quote; return of how many there was something."""
        reason = self.event.facts.get("reason")
        return sum(
            ErasePayload(
                workspace=self.workspace,
                decision_id=one,
                by=self.event.by or NOBODY,
                reason=reason if isinstance(reason, str) else ERASED,
                at=self.event.at,
            )(transaction)
            for one in evaluations_of(transaction, self.workspace, self.mission_id)
        )


def evaluations_of(transaction: Transaction, workspace: str, mission_id: str) -> list[str]:
    """Return the ids of a mission's evaluations: its own, a revision and an invocation."""
    first = f"{mission_id}."
    found = transaction.all(_EVALUATIONS, (workspace, first, f"{mission_id}/"))
    return [
        name
        for name, slice_key in found
        if slice_key.startswith(MISSION_SLICE) and _are_numbers(name.removeprefix(first))
    ]


def _are_numbers(rest: str) -> bool:
    parts = rest.split(".")
    return len(parts) == 2 and all(part.isdecimal() for part in parts)
