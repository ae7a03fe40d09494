"""Invoke a supervised command once: begin, run, watch, hand in what happened."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from sureline.application.mission.new_mission import Invocation
from sureline.application.mission.standing import Standing
from sureline.application.mission.supervised import Plan
from sureline.application.mission.supervised_evidence import Invoked, evidence_of, observed
from sureline.application.ports.clock import Clock
from sureline.application.ports.processes import (
    Exchange,
    Firing,
    Handed,
    NotStarted,
    Processes,
    Ran,
    Running,
    Trigger,
)
from sureline.core.mission.summary import summary
from sureline.core.values.mission import Mission, MissionState
from sureline.core.values.mission_evidence import Evidence
from sureline.errors import Conflict, InvalidInput, MissionRefused

STORE_AWAY = "store_away"
_NEVER = float("-inf")
_OVER_BY_ITSELF = frozenset({None, "timeout"})


@dataclass(slots=True, kw_only=True)
class Invoker:
    """Invokes one command for one mission; whatever it starts has ended when it returns."""

    plan: Plan
    standing: Standing
    processes: Processes
    exchange: Exchange
    trigger: Trigger
    clock: Clock
    owner: str
    _refused: str | None = None

    async def invoke(self, firing: Firing) -> str | None:
        """Invoke the command for a reason; return the code of a refusal, None if it ran.

        `store_away` is the code where nobody could be asked.
        """
        taken = self.trigger.take(firing, self.clock.now())
        if taken is None:
            return None
        begun = await self._begun()
        if isinstance(begun, str):
            self.trigger.done(taken, ok=None)
            return begun
        mission = await self.standing.look(anew=True)
        invoked = await self._ran(mission, begun, taken)
        evidence = self._evidence(invoked)
        missions, mission_id = self.standing.missions, self.plan.mission_id
        await self._insist(lambda: missions.end(mission_id, begun, evidence))
        self.trigger.done(taken, ok=invoked.ok if invoked.ended_for in _OVER_BY_ITSELF else None)
        await self.standing.look(anew=True)
        return None

    async def _begun(self) -> Invocation | str:
        """Return an invocation, or why there is none; that is told when it is new."""
        beginning = self.standing.missions.begin(
            self.plan.mission_id, owner=self.owner, seconds=self.plan.lease
        )
        try:
            invocation = await self.standing.at_store(beginning)
        except MissionRefused as refused:
            if refused.code != self._refused:
                self.standing.say("refused", code=refused.code, why=refused.message)
            self._refused = refused.code
            await self.standing.look(anew=True)
            return refused.code
        self._refused = None
        return STORE_AWAY if invocation is None else invocation

    async def _ran(self, mission: Mission, invocation: Invocation, firing: Firing) -> Invoked:
        started = await self._started(mission, invocation, firing)
        ended_for: str | None = None
        outcome: Ran | NotStarted
        if isinstance(started, NotStarted):
            outcome = started
            self.standing.say("not_started", invocation=invocation.number, why=started.why)
        else:
            outcome, ended_for = await self._until_ended(started, invocation)
        return Invoked(
            number=invocation.number,
            trigger=firing.name,
            command=self.plan.command,
            outcome=outcome,
            ended_for=ended_for,
        )

    async def _started(
        self, mission: Mission, invocation: Invocation, firing: Firing
    ) -> Running | NotStarted:
        try:
            handed = self.exchange.hand(summary(mission, self.clock.now()))
        except InvalidInput as error:
            return NotStarted(why=error.message)
        variables = _variables(invocation, firing, handed)
        return await self.processes.start(self.plan.command, variables)

    async def _until_ended(
        self, running: Running, invocation: Invocation
    ) -> tuple[Ran, str | None]:
        """Return how it ended, and why it was ended where it did not end itself."""
        number, say = invocation.number, self.standing.say
        say("process_started", invocation=number, pid=running.pid)
        try:
            ended_for = await self._watch(running, invocation)
        finally:
            ran = await running.stop()
        say("process_ended", invocation=number, exit_code=ran.exit_code, ended_for=ended_for)
        return ran, ended_for

    async def _watch(self, running: Running, invocation: Invocation) -> str | None:
        """Wait until it ends; return why it must be ended before, None if it ended itself."""
        elapsed, lease = self.standing.elapsed, self.plan.lease
        ends_at, renewed_at, heard_at = elapsed() + self.plan.timeout, elapsed(), elapsed()
        waiting = asyncio.create_task(running.wait())
        try:
            while not waiting.done():
                await self.standing.pause(waiting)
                now = elapsed()
                if now >= renewed_at + lease / 3:
                    renewed_at, heard_at = now, await self._heard(invocation, heard_at)
                reason = await self._reason(is_late=now >= ends_at, is_lost=now >= heard_at + lease)
                if reason is not None and not waiting.done():
                    return reason
                await self._skip()
        finally:
            waiting.cancel()
        return None

    async def _heard(self, invocation: Invocation, before: float) -> float:
        """Return when the store last heard of the invocation; never, if it is another's by now."""
        now, missions = self.standing.elapsed(), self.standing.missions
        renewing = missions.renew(self.plan.mission_id, invocation, seconds=self.plan.lease)
        try:
            renewed = await self.standing.at_store(renewing)
        except Conflict:
            return _NEVER
        return before if renewed is None else now

    async def _reason(self, *, is_late: bool, is_lost: bool) -> str | None:
        """Return why what is running must end, None if it may go on."""
        if self.standing.stopping.is_set():
            return "stopping"
        if is_late:
            return "timeout"
        if is_lost:
            return "lost"
        mission = await self.standing.look()
        return None if mission.state is MissionState.ACTIVE else mission.state.value

    async def _skip(self) -> None:
        """Count what is due while an invocation runs, and let it go (M25)."""
        if not self.trigger.skips:
            return
        firing = self.trigger.due(self.clock.now(), self.standing.elapsed())
        if firing is not None:
            skipping = self.standing.missions.skipped(self.plan.mission_id, firing.name)
            await self.standing.at_store(skipping)

    def _evidence(self, invoked: Invoked) -> Evidence:
        if isinstance(invoked.outcome, NotStarted):
            return observed(invoked)
        try:
            return evidence_of(invoked, self.exchange.evidence())
        except InvalidInput as error:
            number = invoked.number
            self.standing.say("evidence_unreadable", invocation=number, why=error.message)
            return observed(invoked)

    async def _insist(self, work: Callable[[], Awaitable[Mission]]) -> None:
        """Hand in what happened, for as long as the store is away and nobody tells us to stop."""
        with suppress(Conflict):  # it was lost meanwhile, and the timeline says so
            while await self.standing.at_store(work()) is None:
                if self.standing.stopping.is_set():
                    return
                await self.standing.pause()


def _variables(invocation: Invocation, firing: Firing, handed: Handed) -> dict[str, str]:
    found = {
        "SURELINE_MISSION": invocation.mission_id,
        "SURELINE_INVOCATION": str(invocation.number),
        "SURELINE_TRIGGER": firing.name,
        "SURELINE_CONTEXT": handed.context,
        "SURELINE_EVIDENCE": handed.evidence,
    }
    return found if firing.file is None else {**found, "SURELINE_FILE": firing.file}
