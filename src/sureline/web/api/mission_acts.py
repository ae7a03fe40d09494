"""What people do with missions, over HTTP and on their page alike (M7)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sureline.application.ports.keys import ApiKey
from sureline.bootstrap import Services
from sureline.core.gate.acting import acting
from sureline.core.values.mission import Mission
from sureline.errors import InvalidInput
from sureline.web.api.mission_access import check_other

ACTS = ("suspend", "resume", "extend", "fail", "complete", "change")
LIMITS = ("hours", "invocations", "tokens", "cost", "calls")


async def act_on(
    services: Services, key: ApiKey, mission: Mission, act: str, given: Mapping[str, Any]
) -> Mission:
    """Do one of ACTS in the name of a key, and return the mission as it is then.

    Whoever brought a mission may suspend it and nothing else. Raises Forbidden, Conflict,
    InvalidInput and NotFound.
    """
    if act not in ACTS:
        raise InvalidInput("expected one of the buttons", field="act")
    if act != "suspend":
        check_other(key, mission)
    if act == "extend" and not any(given.get(name) is not None for name in LIMITS):
        raise InvalidInput(f"say what to raise: any of {', '.join(LIMITS)}")
    if act == "change" and given.get("objective") is None and given.get("criteria") is None:
        raise InvalidInput("say what to change: objective, criteria or both")
    done: Mission = await getattr(services.missions, act)(
        mission.id, by=acting(key.name, field="key"), **given
    )
    return done
