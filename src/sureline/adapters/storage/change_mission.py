"""Does a step of a mission, with the evaluation it rests on and a person's label."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, select

from sureline.adapters.storage.append_decision import AppendDecision
from sureline.adapters.storage.erase_payload import ErasePayload
from sureline.adapters.storage.labels import BY_DECISION
from sureline.adapters.storage.mission_rows import (
    COLUMNS,
    PUT,
    event_fields,
    mission_of,
    missions,
    row_of,
)
from sureline.adapters.storage.outbox_rows import put_notices
from sureline.adapters.storage.record_outcome import RecordOutcome, recorded_before
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import decisions
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.ledger import DecisionRecord
from sureline.application.ports.missions import Change
from sureline.core.chain import FieldValue
from sureline.core.mission.step import Step
from sureline.core.values.mission import Mission
from sureline.core.values.outcome import Outcome
from sureline.errors import Conflict, NotFound

NOBODY = "sureline"
"""Under this name the ledger has what nobody in particular erased."""
ERASED = "its mission was erased"
MISSION = compiled(
    select(*COLUMNS).where(
        missions.c.workspace == bindparam("workspace"), missions.c.id == bindparam("id")
    )
)
"""A mission by its id."""
_SLICE = compiled(
    select(decisions.c.slice_key).where(
        decisions.c.workspace == bindparam("workspace"), decisions.c.id == bindparam("id")
    )
)


@dataclass(frozen=True, slots=True)
class CreateMission:
    """The job of writing a new mission."""

    step: Step
    secret: bytes

    def __call__(self, transaction: Transaction) -> Mission:
        """Write it and return it, or what is stored under its id. Raises StoreCorrupt."""
        mission = self.step.mission
        found = transaction.first(MISSION, (mission.workspace, mission.id))
        if found is not None:
            return mission_of(found)
        write_step(transaction, None, self.step, self.secret)
        return mission


@dataclass(frozen=True, slots=True)
class ChangeMission:
    """The job of one step: what can be refused comes first, and then all is written."""

    workspace: str
    mission_id: str
    make: Callable[[Mission], Change]
    secret: bytes

    def __call__(self, transaction: Transaction) -> Change:
        """Do it. Raises NotFound, StoreCorrupt, Conflict, and what `make` raises."""
        found = transaction.first(MISSION, (self.workspace, self.mission_id))
        if found is None:
            raise NotFound(f"there is no mission {self.mission_id!r}")
        before = mission_of(found)
        change = self.make(before)
        judged = None if change.evaluation is None else change.evaluation.id
        writing = _Writing(before, change.step, self.secret, judged)
        if change.evaluation is not None:
            _check_own(transaction, change.evaluation)
        if change.answer is not None:
            _check(transaction, change.answer, change.evaluation)
        if change.evaluation is not None:
            _append(transaction, change.evaluation, change.step.mission)
        if change.answer is not None:
            RecordOutcome(change.answer)(transaction)
        writing.write(transaction)
        return change


def _append(transaction: Transaction, record: DecisionRecord, mission: Mission) -> None:
    """Write an evaluation; one that came after its mission was erased quotes nothing either."""
    AppendDecision(record)(transaction)
    if mission.erased:
        ErasePayload(
            workspace=record.workspace,
            decision_id=record.id,
            by=NOBODY,
            reason=ERASED,
            at=mission.updated_at,
        )(transaction)


def _check_own(transaction: Transaction, record: DecisionRecord) -> None:
    """Refuse an evaluation under the id of a decision of another slice, before all is written."""
    found = transaction.first(_SLICE, (record.workspace, record.id))
    if found is not None and found[0] != record.slice_key:
        raise Conflict(f"the id {record.id!r} belongs to a decision of another slice")


def _check(transaction: Transaction, answer: Outcome, evaluation: DecisionRecord | None) -> None:
    """Refuse an answer before anything is written: another's refusal would not undo that."""
    if recorded_before(transaction, answer) is not None:
        return
    is_new = evaluation is not None and evaluation.id == answer.decision_id
    named = (answer.workspace, answer.decision_id)
    if not is_new and transaction.first(BY_DECISION, named) is None:
        raise NotFound(f"there is no decision {answer.decision_id!r} in this workspace")


def write_step(transaction: Transaction, before: Mission | None, step: Step, secret: bytes) -> None:
    """Write a step on its own. Raises ValueError, InvalidInput before anything is written."""
    _Writing(before, step, secret).write(transaction)


class _Writing:
    """A step as rows, which are made before anything is written."""

    __slots__ = ("_events", "_notices", "_row")

    def __init__(
        self, before: Mission | None, step: Step, secret: bytes, judged: str | None = None
    ) -> None:
        _check_step(before, step)
        if judged is not None and not step.events:
            raise ValueError("an evaluation comes with an event")
        is_new = step.mission != before
        self._row: tuple[Any, ...] | None = row_of(step.mission, secret) if is_new else None
        # The first event names the evaluation; what follows from it comes after.
        self._events: list[dict[str, FieldValue]] = [
            event_fields(one, None if at else judged) for at, one in enumerate(step.events)
        ]
        self._notices = step.notices

    def write(self, transaction: Transaction) -> None:
        """Write the rows; one that a trigger swallows is an error."""
        if self._row is not None:
            transaction.insert(PUT, [self._row])
        transaction.chain_many("mission_event", self._events)
        put_notices(transaction, self._notices)


def _check_step(before: Mission | None, step: Step) -> None:
    """Raise ValueError for a step that would leave a mission and its timeline apart."""
    after = step.mission
    if before is not None and (before.workspace, before.id) != (after.workspace, after.id):
        raise ValueError("a step is of another mission")
    if before is not None and before.erased and not after.erased:
        raise ValueError("what was erased does not come back")
    said = (step.events[-1].state, step.events[-1].cause) if step.events else None
    stood = None if before is None else (before.state, before.cause)
    if (said or stood) != (after.state, after.cause):
        raise ValueError("a step that changes the state ends with an event that says so")
