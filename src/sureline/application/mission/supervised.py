"""What is supervised, and what is asked of a workspace's missions for that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sureline.application.mission.check import SuccessCheck
from sureline.application.mission.new_mission import Invocation
from sureline.core.values.mission import Mission, MissionEvent
from sureline.core.values.mission_evidence import Evidence


class Supervised(Protocol):
    """What is asked of a workspace's missions."""

    async def mission(self, mission_id: str) -> Mission:
        """Return a mission."""

    async def events(self, mission_id: str) -> Sequence[MissionEvent]:
        """Return the latest rows of its timeline, oldest first."""

    async def begin(
        self, mission_id: str, *, owner: str, seconds: float | None = None
    ) -> Invocation:
        """Begin an invocation. Raises MissionRefused."""

    async def renew(self, mission_id: str, invocation: Invocation, *, seconds: float) -> Invocation:
        """Say that an invocation is still running. Raises Conflict."""

    async def end(self, mission_id: str, invocation: Invocation, evidence: Evidence) -> Mission:
        """Hand in what an invocation did. Raises Conflict."""

    async def skipped(self, mission_id: str, trigger: str) -> Mission:
        """Count a trigger that came while an invocation was running."""

    async def evaluate(
        self, mission_id: str, *, owner: str, check: SuccessCheck | None = None
    ) -> Mission:
        """Find out whether the objective is achieved."""

    async def tick(self) -> int:
        """Do what time alone calls for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is supervised: a mission and the command that works on it.

    An invocation may take `timeout` seconds; it is believed to run for `lease` seconds after it was
    last heard of.
    """

    mission_id: str
    command: Sequence[str]
    timeout: float
    lease: float
    check: Sequence[str] | None = None
