"""Missions as they are kept: each step is one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from sureline.application.ports.ledger import DecisionRecord
from sureline.core.mission.evaluation import Evaluation
from sureline.core.mission.step import Step
from sureline.core.values.mission import Mission, MissionEvent, MissionState
from sureline.core.values.mission_kind import MissionKind
from sureline.core.values.outcome import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What is written together: a step, with the evaluation it rests on and a person's label."""

    step: Step
    evaluation: DecisionRecord | None = None
    answer: Outcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MissionFilter:
    """Which missions are listed; None stands for any."""

    states: frozenset[MissionState] | None = None
    kinds: frozenset[str] | None = None
    submitted_by: str | None = None


class MissionStore(Protocol):
    """Keeps missions with their timelines; nothing acknowledged is ever lost."""

    async def create(self, step: Step) -> Mission:
        """Write a new mission; where its id is known, return what is stored and write nothing."""

    async def mission(self, workspace: str, mission_id: str) -> Mission | None:
        """Return a mission, or None. Raises StoreCorrupt for one that cannot be read."""

    async def change(
        self, workspace: str, mission_id: str, make: Callable[[Mission], Change]
    ) -> Change:
        """Read a mission, make a change of it, and write all of that in one transaction.

        `make` is pure and may run again if the transaction must; nobody changes the mission
        between its reading and its writing. An evaluation whose id is stored already, and an
        outcome that is, are not written again. Where state or cause differ after a step, its last
        event must say the new ones: a verification goes by that. An evaluation needs an event; the
        first one names it, which is how an erasure finds it. Nothing brings words of an erased
        mission back. Raises NotFound, StoreCorrupt, Conflict for another outcome of the same id,
        and what `make` raises, and then writes nothing.
        """

    async def list(
        self, workspace: str, wanted: MissionFilter, *, limit: int, offset: int = 0
    ) -> Sequence[Mission]:
        """Return missions: those that wait for a person first, then by their latest change.

        One that cannot be read is left out.
        """

    async def counts(self, workspace: str) -> dict[str, dict[MissionState, int]]:
        """Return the number of missions by kind and state."""

    async def events(
        self, workspace: str, mission_id: str, *, limit: int = 1_000
    ) -> Sequence[MissionEvent]:
        """Return the latest rows of a mission's timeline, oldest first."""

    async def due(self, workspace: str, now: datetime, limit: int) -> Sequence[str]:
        """Return ids of missions whose `timer_at` has come, the longest overdue first.

        One that cannot be read is left out.
        """

    async def erase(self, workspace: str, mission_id: str, event: MissionEvent) -> bool:
        """Erase a mission's words, and those of its evaluations; False if they were erased.

        One that is not over fails, by a person: nobody could go on with it. The event is written
        with the state that it has then; its fact `reason` goes into the record of the erasure.
        Raises NotFound.
        """


class MissionJudgePort(Protocol):
    """Says whether a mission's objective is achieved; it is never the actor itself."""

    async def judge(self, mission: Mission, kind: MissionKind) -> Evaluation:
        """Return the verdict on what the mission's evidence shows, or why there is none.

        An exception, and an answer after `kind.judge.seconds`, become a failed evaluation;
        ModelFailed says why.
        """
