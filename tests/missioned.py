"""A gate with one kind of mission, whose judge is the product's and whose provider is scripted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from sureline.adapters.storage.outbox_rows import notices
from sureline.adapters.storage.statement import compiled
from sureline.application.mission.evidence_intake import read_evidence
from sureline.application.mission.new_mission import NewMission
from sureline.application.ports.clock import Clock
from sureline.application.ports.models import Asking, Prompt, Reply
from sureline.bootstrap import Plugins, open_services
from sureline.core.values.mission import Mission
from sureline.errors import MissionRefused
from sureline.gate import Gate
from sureline.testing import FakeModels, FixedClock

KIND = "books"
JUDGE = "two:sceptic-1"
OBJECTIVE, CRITERIA = "Close the six open disputes.", ("No dispute is open.",)
Says = Callable[[Prompt, Asking], str | Reply]


def reply(achieved: Any, confidence: Any, **words: str) -> str:
    """Return a judge's reply."""
    said = {"reasoning": "Looked at the results.", "progress": "Some are closed.", **words}
    return json.dumps({**said, "achieved": achieved, "confidence": confidence})


def always(text: str) -> Says:
    """Return what makes a provider always say the same."""
    return lambda prompt, asking: text


@dataclass
class World:
    """What a test holds: the gate, its clock and its scripted provider."""

    gate: Gate
    clock: Clock
    provider: FakeModels = field(default_factory=lambda: FakeModels(always(GOES_ON)))

    @property
    def missions(self) -> Any:
        return self.gate.services.missions

    async def create(self, mission_id: str = "m1", **more: Any) -> Mission:
        """Make a mission, or return the one that there is."""
        given = {"kind": KIND, "objective": OBJECTIVE, "criteria": CRITERIA, **more}
        made: Mission = await self.missions.create(NewMission(id=mission_id, **given))
        return made

    async def turn(self, mission_id: str = "m1", owner: str = "w1", **evidence: Any) -> bool:
        """Begin and end an invocation; False if it was refused."""
        try:
            invocation = await self.missions.begin(mission_id, owner=owner)
        except MissionRefused:
            return False
        said = read_evidence(evidence or {"answer": "I have looked into it."})
        await self.missions.end(mission_id, invocation, said)
        return True

    async def evaluate(self, mission_id: str = "m1", **more: Any) -> Mission:
        """Make the evaluation that is owed."""
        found: Mission = await self.missions.evaluate(mission_id, owner="w1", **more)
        return found

    async def mission(self, mission_id: str = "m1") -> Mission:
        """Return the mission as it stands."""
        found: Mission = await self.missions.mission(mission_id)
        return found

    async def events(self, mission_id: str = "m1") -> list[str]:
        """Return the kinds of its timeline's rows."""
        return [one.kind.value for one in await self.missions.events(mission_id)]

    def told(self) -> list[str]:
        """Return the kinds of the notices that were written, in their order."""
        with self.gate.services.store.database.snapshot() as each:
            rows = sorted(each(compiled(notices.select()), ()), key=lambda row: row[9])
        return [row[2] for row in rows]


GOES_ON = reply(False, 0.9)
"""Not achieved, and sure of it."""


@contextmanager
def missioned(
    says: Says | str = GOES_ON,
    *,
    clock: Clock | None = None,
    store: Path | None = None,
    more: dict[str, Any] | None = None,
    plugins: dict[str, Any] | None = None,
    **settings: Any,
) -> Iterator[World]:
    """Yield a gate on a store in memory, or in a file that may be there already.

    A pause before another try takes no time but the clock's.
    """
    provider = FakeModels(always(says) if isinstance(says, str) else says)
    told = clock or FixedClock()
    kind = {"judge": {"model": JUDGE, "tries": 1}, "evaluate_every": 1, **settings}
    policy = {"version": 1, "missions": {KIND: kind}, **(more or {})}
    url = "sqlite://" if store is None else f"sqlite:///{store}"
    wired = Plugins(model_client=provider, clock=told, **(plugins or {}))

    async def pause(seconds: float) -> None:
        if isinstance(told, FixedClock):
            told.advance(timedelta(seconds=seconds))

    services = open_services(url, plugins=wired)
    runs = replace(services.missions.runs, pause=pause)
    services = replace(services, missions=replace(services.missions, runs=runs))
    with Gate(services) as gate:
        gate.run(gate.services.policies.introduce(json.dumps(policy)))  # JSON is YAML
        yield World(gate, told, provider)


def stands(mission: Mission) -> tuple[str, str]:
    """Return a mission's state and its cause."""
    return mission.state.value, mission.cause.value
