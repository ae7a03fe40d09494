"""Supervise a command that works on a mission: invoke it, judge it, and end it (M1-M12).

Nothing is invoked while the mission is suspended, over, owed an evaluation, or running already.
Whatever ends the mission, or this program, ends the command with all that it has started.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from sureline.application.mission.check import ExitedWith, SuccessCheck
from sureline.application.mission.invoke import Invoker
from sureline.application.mission.standing import STORE_SECONDS, Standing
from sureline.application.ports.processes import Firing, NotStarted
from sureline.core.values.mission import Mission, MissionState
from sureline.errors import InvalidInput

_LET_GO = frozenset({None, "busy", "completed", "failed"})
"""After these a trigger is over; after another refusal it waits for its turn."""
_CHECK_SAYS = {0: True, 1: False}


@dataclass(slots=True, kw_only=True)
class Supervisor:
    """Drives one mission until it is over, or until it is told to stop."""

    invoker: Invoker
    standing: Standing
    _waiting: Firing | None = None
    _not_before: float = float("-inf")

    async def run(self) -> Mission:
        """Return the mission as it stands at the end. Raises OtherSchema."""
        standing = self.standing
        mission = await standing.look(anew=True)
        while not (mission.state.is_over or standing.stopping.is_set()):
            if mission.state is not MissionState.SUSPENDED:
                await self._further(mission)
            await standing.pause()
            mission = await standing.look()
        return await standing.look(anew=True)

    async def _further(self, mission: Mission) -> None:
        """Do what comes next: an evaluation that is owed, or an invocation that is due."""
        elapsed = self.standing.elapsed()
        if elapsed < self._not_before:
            return
        if mission.owed and mission.running is None:
            await self._evaluate()
            self._not_before = self.standing.elapsed() + STORE_SECONDS * self.standing.mission.owed
            return
        trigger, clock = self.invoker.trigger, self.invoker.clock
        firing = self._waiting or trigger.due(clock.now(), elapsed)
        if firing is None:
            return
        code = await self.invoker.invoke(firing)
        # What a file is about is found again; a moment that has passed is not.
        self._waiting = firing if trigger.skips and code not in _LET_GO else None
        if code is not None:
            self._not_before = self.standing.elapsed() + STORE_SECONDS

    async def _evaluate(self) -> None:
        check: SuccessCheck | None = None
        if self.invoker.plan.check is not None:
            check = self._checked
        plan, standing = self.invoker.plan, self.standing
        work = standing.missions.evaluate(plan.mission_id, owner=self.invoker.owner, check=check)
        await standing.unless_stopped(standing.at_store(work))
        await standing.look(anew=True)

    async def _checked(self, mission: Mission) -> bool:
        """Return what the check's program says by its exit code: 0 achieved, 1 not achieved.

        Raises ExitedWith for anything else, and InvalidInput where it was not started: each is a
        failed evaluation.
        """
        command = self.invoker.plan.check
        assert command is not None
        variables = {"SURELINE_MISSION": mission.id}
        started = await self.invoker.processes.start(command, variables)
        if isinstance(started, NotStarted):
            self.standing.say("check_not_started", why=started.why)
            raise InvalidInput(started.why)
        try:
            ran = await started.wait()
        except asyncio.CancelledError:
            await started.stop()
            raise
        self.standing.say("check_ended", exit_code=ran.exit_code)
        if ran.exit_code not in _CHECK_SAYS:
            raise ExitedWith(ran.exit_code)
        return _CHECK_SAYS[ran.exit_code]
