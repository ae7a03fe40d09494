"""Kinds of missions as the policy in force has them."""

from __future__ import annotations

from dataclasses import dataclass

from sureline.application.policies import PolicyBook
from sureline.core.values.mission import Mission
from sureline.core.values.mission_kind import MissionKind, MissionKinds
from sureline.errors import InvalidInput


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinds:
    """Reads kinds from the policy that is current now, in every process."""

    policies: PolicyBook

    async def known(self, name: str) -> MissionKind:
        """Return a kind. Raises InvalidInput naming those there are."""
        kinds = await self.all()
        if name not in kinds:
            there = ", ".join(sorted(kinds)) or "none"
            raise InvalidInput(
                f"the policy has no kind of mission {name!r} (it has: {there})", field="kind"
            )
        return kinds[name]

    async def of(self, mission: Mission) -> MissionKind:
        """Return a mission's kind; one that left the policy is a stranger: nothing goes on.

        Its deadline and reminders hold all the same, by the defaults.
        """
        kinds = await self.all()
        return kinds.get(mission.kind) or MissionKind(name=mission.kind, judge=None)

    async def all(self) -> MissionKinds:
        """Return every kind by its name."""
        return (await self.policies.latest()).missions
