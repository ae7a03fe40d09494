"""Kinds of missions as the policy in force has them."""

from __future__ import annotations

from dataclasses import dataclass

from sureline.application.policies import PolicyBook
from sureline.core.mission.invoking import unknown_kind
from sureline.core.values.mission import Mission
from sureline.core.values.mission_kind import MissionKind, MissionKinds
from sureline.errors import Conflict, InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinds:
    """Reads kinds from the policy that is current now, in every process.

    `has_judge` says that the program has brought a judge of its own, which judges every kind.
    """

    policies: PolicyBook
    has_judge: bool = False

    async def known(self, name: str) -> MissionKind:
        """Return a kind. Raises InvalidInput naming those there are."""
        kinds = await self.all()
        if name not in kinds:
            there = ", ".join(sorted(kinds)) or "none"
            raise InvalidInput(
                f"the policy has no kind of mission {name!r} (it has: {there})", field="kind"
            )
        return kinds[name]

    def require_judged(self, kind: MissionKind, *, has_check: bool) -> None:
        """Raise InvalidInput where nobody could ever say that such a mission is achieved."""
        if kind.judge is None and not (has_check or self.has_judge):
            raise InvalidInput(
                f"nobody could say that a mission of the kind {kind.name!r} is achieved: add a "
                "judge to the kind in the policy, or give a success check",
                field="kind",
            )

    async def require_known(self, mission: Mission) -> None:
        """Raise Conflict for a mission whose kind left the policy."""
        if mission.kind not in await self.all():
            raise Conflict(unknown_kind(mission))

    async def of(self, mission: Mission) -> MissionKind:
        """Return a mission's kind; one that left the policy is a stranger: nothing goes on.

        Its deadline and reminders hold all the same, by the defaults.
        """
        kinds = await self.all()
        return kinds.get(mission.kind) or MissionKind(name=mission.kind, judge=None)

    async def all(self) -> MissionKinds:
        """Return every kind by its name."""
        return (await self.policies.latest()).missions
