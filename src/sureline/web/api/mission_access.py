"""Which missions a key may see, and who may say how one goes on (M7, R12)."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from sureline.application.ports.keys import ApiKey, Role
from sureline.application.ports.missions import MissionFilter
from sureline.bootstrap import Services
from sureline.core.values.mission import Mission, MissionState
from sureline.core.values.mission_kind import MISSION_SLICE
from sureline.core.values.person import same_person
from sureline.errors import Forbidden, NotFound
from sureline.web.access import check_slice


def slice_of(kind: str) -> str:
    """Return the slice that a kind of mission is, which keys are bound to."""
    return f"{MISSION_SLICE}{kind}"


def filter_of(
    key: ApiKey,
    *,
    states: AbstractSet[MissionState] | None = None,
    kinds: AbstractSet[str] | None = None,
) -> MissionFilter:
    """Return what of the wanted missions a key may see: of its slices, and an agent its own."""
    seen = None if kinds is None else frozenset(kinds)
    if key.slices:
        bound = {
            one.removeprefix(MISSION_SLICE) for one in key.slices if one.startswith(MISSION_SLICE)
        }
        seen = frozenset(bound if seen is None else bound & seen)
    return MissionFilter(
        states=None if states is None else frozenset(states),
        kinds=seen,
        submitted_by=key.name if key.role is Role.AGENT else None,
    )


async def mission_of(services: Services, key: ApiKey, mission_id: str) -> Mission:
    """Return a mission that a key may see.

    Raises NotFound, also for another agent's mission, and Forbidden for another slice's.
    """
    found = await services.store.missions.mission(services.workspace, mission_id)
    if found is None:
        raise NotFound("there is no such mission")
    check_slice(key, slice_of(found.kind))
    if key.role is Role.AGENT and found.submitted_by != key.name:
        raise NotFound("there is no such mission")
    return found


def is_own(key: ApiKey, mission: Mission) -> bool:
    """Tell whether a key's holder brought the mission."""
    return same_person(mission.submitted_by, key.name)


def check_other(key: ApiKey, mission: Mission) -> None:
    """Raise Forbidden if the mission is the key's own: nobody lets their own go on (R12)."""
    if is_own(key, mission):
        raise Forbidden("nobody says how their own mission goes on; somebody else must")
