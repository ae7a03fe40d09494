"""Missions: stop, escalate or go on. Read this file first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from sureline.application.mission.answering import answer_of
from sureline.application.mission.bus import MissionBus
from sureline.application.mission.check import SuccessCheck
from sureline.application.mission.each_due import each_due
from sureline.application.mission.evaluation_run import EvaluationRun
from sureline.application.mission.kinds import Kinds
from sureline.application.mission.new_mission import Invocation, NewMission, check_same, created
from sureline.application.mission.overdue import Overdue
from sureline.application.ports.clock import Clock
from sureline.application.ports.missions import Change, MissionFilter, MissionStore
from sureline.core.mission import acting
from sureline.core.mission.acting import Raise
from sureline.core.mission.invoking import Begun, begun, ended, renewed
from sureline.core.mission.step import Step
from sureline.core.mission.timing import ticked
from sureline.core.mission.transitions import event_of, stepped
from sureline.core.values.mission import EventKind, Mission, MissionEvent
from sureline.core.values.mission_evidence import Evidence
from sureline.core.values.mission_kind import MissionKind
from sureline.core.values.outcome import Action
from sureline.errors import MissionRefused, NotFound

GLOBAL = "global"
"""The scope of a switch under which nothing goes on at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Missions:
    """The missions of one workspace, with the ports that they need.

    Around the agent's work there are three calls: `begin` before an invocation, `end` after it
    with what happened, and `evaluate` where one is owed. The rest is what people and time do.
    """

    store: MissionStore
    kinds: Kinds
    runs: EvaluationRun
    overdue: Overdue
    bus: MissionBus
    clock: Clock
    new_id: Callable[[], str]
    workspace: str
    forget: Callable[[], None] = field(default=lambda: None)

    async def create(self, new: NewMission) -> Mission:
        """Make a mission; the same id with the same content returns what is stored.

        Raises InvalidInput naming the field, and Conflict for an id that is another mission's.
        """
        kind = await self.kinds.known(new.kind)
        self.kinds.require_judged(kind, has_check=new.has_check)
        step = created(
            new,
            kind,
            mission_id=self.new_id() if new.id is None else new.id,
            workspace=self.workspace,
            now=self.clock.now(),
        )
        stored = await self.store.create(step)
        if stored == step.mission:
            self.bus.tell(step.events)
        else:
            check_same(stored, step.mission)
        return stored

    async def mission(self, mission_id: str) -> Mission:
        """Return a mission as it stands. Raises NotFound."""
        found = await self.store.mission(self.workspace, mission_id)
        if found is None:
            raise NotFound(f"there is no mission {mission_id!r}")
        return found

    async def list(
        self, wanted: MissionFilter, *, limit: int, offset: int = 0
    ) -> Sequence[Mission]:
        """Return missions, those that wait for a person first."""
        return await self.store.list(self.workspace, wanted, limit=limit, offset=offset)

    async def events(self, mission_id: str) -> Sequence[MissionEvent]:
        """Return the latest rows of a mission's timeline, oldest first. Raises NotFound."""
        await self.mission(mission_id)
        return await self.store.events(self.workspace, mission_id)

    async def begin(
        self, mission_id: str, *, owner: str, seconds: float | None = None
    ) -> Invocation:
        """Begin an invocation for `owner`, who has `seconds` (by default the kind's) for it.

        Past its deadline or its last invocation the mission fails here, and one whose kind left the
        policy is suspended. Raises MissionRefused with the code why it may not run, and NotFound.
        """
        before = await self.mission(mission_id)
        found_kind = (await self.kinds.all()).get(before.kind)
        kind = found_kind or await self.kinds.of(before)
        switches = await self.runs.switches(kind)
        now = self.clock.now()
        until = now + timedelta(seconds=kind.invocation_seconds if seconds is None else seconds)
        asked: list[Begun] = []

        def make(mission: Mission) -> Change:
            found = begun(
                mission,
                kind,
                owner=owner,
                now=now,
                until=until,
                overdue=self.overdue(mission),
                switched=any(one.scope == GLOBAL for one in switches),
                known=found_kind is not None,
            )
            asked[:] = [found]
            return Change(step=found.step)

        mission = await self._change(mission_id, make)
        refusal = asked[0].refusal
        if refusal is not None:
            raise MissionRefused(
                refusal.sentence, code=refusal.code, mission=mission, until=refusal.until
            )
        return Invocation(
            mission_id=mission_id, number=mission.invocations, owner=owner, until=until
        )

    async def renew(
        self, mission_id: str, invocation: Invocation, *, seconds: float | None = None
    ) -> Invocation:
        """Say that an invocation goes on. Raises Conflict if it is another's by now."""
        kind = await self._kind_of(mission_id)
        more = kind.invocation_seconds if seconds is None else seconds
        now = self.clock.now()
        until = now + timedelta(seconds=more)
        owner, number = invocation.owner, invocation.number
        await self._step(
            mission_id,
            lambda one: renewed(one, owner=owner, invocation=number, now=now, until=until),
        )
        return replace(invocation, until=until)

    async def end(self, mission_id: str, invocation: Invocation, evidence: Evidence) -> Mission:
        """Take in what an invocation did; a limit that is met suspends the mission.

        Raises Conflict if the invocation is another's by now.
        """
        kind = await self._kind_of(mission_id)
        return await self._step(
            mission_id,
            lambda one: ended(
                one,
                kind,
                owner=invocation.owner,
                invocation=invocation.number,
                evidence=evidence,
                now=self.clock.now(),
            ),
        )

    async def skipped(self, mission_id: str, trigger: str) -> Mission:
        """Note that a trigger came while an invocation was running: it counts as none (M25)."""
        now, skip, facts = self.clock.now(), EventKind.TRIGGER_SKIPPED, {"trigger": trigger}
        return await self._step(
            mission_id, lambda one: stepped(one, one, skip, now=now, facts=facts)
        )

    async def evaluate(
        self,
        mission_id: str,
        *,
        owner: str,
        check: SuccessCheck | None = None,
        only_owed: bool = False,
    ) -> Mission:
        """Find out whether the objective is achieved, and act on it; at most one at a time.

        Does nothing where nothing was done since the last evaluation, where somebody else is at
        it, and with `only_owed` where none is owed. Returns the mission as it stands then.
        """
        await self.mission(mission_id)
        return await self.runs.run(mission_id, owner=owner, check=check, only_owed=only_owed)

    async def suspend(self, mission_id: str, *, by: str, note: str = "") -> Mission:
        """Stop a mission until somebody resumes it. Raises Conflict, NotFound."""
        return await self._act(mission_id, acting.suspended, by=by, note=note)

    async def resume(self, mission_id: str, *, by: str, note: str = "") -> Mission:
        """Let a suspended mission go on; what it was asked about counts as not achieved.

        Raises Conflict where a limit must be raised or its kind put back first, NotFound.
        """
        await self.kinds.require_known(await self.mission(mission_id))
        return await self._act(mission_id, acting.resumed, by=by, note=note, label=Action.REJECT)

    async def fail(self, mission_id: str, *, by: str, note: str = "") -> Mission:
        """End a mission as failed. Raises Conflict, NotFound."""
        return await self._act(mission_id, acting.failed_by, by=by, note=note, label=Action.REJECT)

    async def complete(self, mission_id: str, *, by: str, note: str = "") -> Mission:
        """End a mission as completed: a person says that it is achieved. Raises Conflict."""
        return await self._act(
            mission_id, acting.completed_by, by=by, note=note, label=Action.APPROVE
        )

    async def extend(
        self,
        mission_id: str,
        *,
        by: str,
        hours: float | None = None,
        invocations: int | None = None,
        tokens: int | None = None,
        cost: float | None = None,
        calls: int | None = None,
        note: str = "",
    ) -> Mission:
        """Raise limits, and reopen what failed by one. Raises InvalidInput, Conflict, NotFound."""
        kind, now = await self._kind_of(mission_id), self.clock.now()
        more = Raise(hours=hours, invocations=invocations, tokens=tokens, cost=cost, calls=calls)
        return await self._step(
            mission_id, lambda one: acting.extended(one, kind, by=by, now=now, more=more, note=note)
        )

    async def change(
        self,
        mission_id: str,
        *,
        by: str,
        objective: str | None = None,
        criteria: tuple[str, ...] | None = None,
        note: str = "",
    ) -> Mission:
        """Change objective or criteria; no verdict on the old ones counts (M11)."""
        now = self.clock.now()
        return await self._step(
            mission_id,
            lambda one: acting.changed(
                one, by=by, now=now, objective=objective, criteria=criteria, note=note
            ),
        )

    async def erase(self, mission_id: str, *, by: str, reason: str) -> bool:
        """Erase a mission's words and those of its evaluations; False if they were. NotFound."""
        mission = await self.mission(mission_id)
        event = event_of(
            mission, EventKind.ERASED, now=self.clock.now(), by=by, facts={"reason": reason}
        )
        done = await self.store.erase(self.workspace, mission_id, event)
        self.forget()
        return done

    async def tick(self) -> int:
        """Do what time has made due: deadlines and reminders; return how many missions moved.

        One that cannot move now, as it is being evaluated or is damaged, holds up no other.
        """
        now = self.clock.now()
        return await each_due(self.store, self.workspace, now, partial(self._timed, now=now))

    async def _timed(self, mission_id: str, *, now: datetime) -> bool:
        before = await self.mission(mission_id)
        kind = await self.kinds.of(before)
        after = await self._step(
            mission_id, lambda one: ticked(one, kind, now=now, overdue=self.overdue(one))
        )
        return after.version != before.version

    async def _kind_of(self, mission_id: str) -> MissionKind:
        return await self.kinds.of(await self.mission(mission_id))

    async def _act(
        self, mission_id: str, act: acting.Act, *, by: str, note: str, label: Action | None = None
    ) -> Mission:
        """Do what a person says and, where that answers an escalation, keep it as a label."""
        kind, now = await self._kind_of(mission_id), self.clock.now()
        outcome_id = self.new_id()

        def make(mission: Mission) -> Change:
            step = act(mission, kind, by=by, now=now, note=note)
            answer = answer_of(mission, label, outcome_id=outcome_id, by=by, now=now, note=note)
            return Change(step=step, answer=answer)

        return await self._change(mission_id, make)

    async def _step(self, mission_id: str, make: Callable[[Mission], Step]) -> Mission:
        return await self._change(mission_id, lambda one: Change(step=make(one)))

    async def _change(self, mission_id: str, make: Callable[[Mission], Change]) -> Mission:
        change = await self.store.change(self.workspace, mission_id, make)
        self.bus.tell(change.step.events)
        return change.step.mission
