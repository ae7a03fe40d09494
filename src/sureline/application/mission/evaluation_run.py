"""Evaluate a mission: one at a time, tried again where it failed, and acted on (M3, M4, M6)."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from sureline.application.current import Currents
from sureline.application.mission.check import SuccessCheck
from sureline.application.mission.evaluating import Evaluating
from sureline.application.mission.kinds import Kinds
from sureline.application.mission.overdue import Overdue
from sureline.application.mission.recording import Recorder
from sureline.application.mission.weighing import answered, note_judge, weigh
from sureline.application.models_seen import ModelWatch
from sureline.application.ports.clock import Clock
from sureline.application.ports.ledger import Ledger
from sureline.application.ports.missions import Change, MissionStore
from sureline.application.ports.switches import HardSwitch
from sureline.core.mission.concluding import (
    Conclusion,
    Verdict,
    conclude,
    concluded,
    counts,
    decision_id_of,
)
from sureline.core.mission.evaluation import Evaluation
from sureline.core.mission.step import Step
from sureline.core.values.mission import Lease, Mission, MissionState
from sureline.core.values.mission_kind import MissionKind
from sureline.core.values.switch import Switch
from sureline.errors import NotFound, StoreError

BACK_OFF = (2.0, 8.0, 30.0)
"""Seconds before an evaluation that failed is tried again; the last repeats."""
BEATS = 3
"""So often in a lease an evaluation that is under way is heard of."""
_AT_WORK = frozenset({MissionState.CREATED, MissionState.ACTIVE})


class Turns:
    """One lock for each mission that is being evaluated in this process."""

    def __init__(self) -> None:
        self._locks: weakref.WeakValueDictionary[tuple[int, str], asyncio.Lock] = (
            weakref.WeakValueDictionary()
        )

    def of(self, mission_id: str) -> asyncio.Lock:
        """Return the mission's lock of the running loop; it lives as long as somebody has it."""
        return self._locks.setdefault((id(asyncio.get_running_loop()), mission_id), asyncio.Lock())


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationRun:
    """Runs evaluations of one workspace with the ports that they need."""

    store: MissionStore
    kinds: Kinds
    evaluating: Evaluating
    currents: Currents
    ledger: Ledger
    hard_switch: HardSwitch
    recorder: Recorder
    models: ModelWatch
    overdue: Overdue
    clock: Clock
    workspace: str
    tell: Callable[[Step], None]
    new_id: Callable[[], str]
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep
    turns: Turns = field(default_factory=Turns)

    async def run(self, mission_id: str, *, owner: str, check: SuccessCheck | None) -> Mission:
        """Evaluate until there is a verdict, or there were too many failures; return what is then.

        Does nothing where nothing is there to be evaluated, or where somebody else is at it.
        """
        async with self.turns.of(mission_id):
            while True:
                kind, mission, lease = await self._claimed(mission_id, owner)
                if lease is None:
                    return mission
                conclusion, mission = await self._once(mission, kind, lease, check)
                if conclusion is None or conclusion.verdict is not Verdict.RETRY:
                    return mission
                await self.pause(BACK_OFF[min(mission.faults, len(BACK_OFF)) - 1])

    async def switches(self, kind: MissionKind) -> tuple[Switch, ...]:
        """Return the switches that are on for a kind of mission, read now."""
        stored = await self.ledger.switches_on(self.workspace, kind.slice_key, None)
        return (*self.hard_switch.read(self.workspace), *stored)

    async def _claimed(
        self, mission_id: str, owner: str
    ) -> tuple[MissionKind, Mission, Lease | None]:
        """Take the evaluation for `owner`, if there is one to take; None if there is none.

        An owner's name tells nothing: several processes may work under one API key.
        """
        stored = await self.store.mission(self.workspace, mission_id)
        name = "" if stored is None else stored.kind
        found = (await self.kinds.all()).get(name)
        kind = found or MissionKind(name=name, judge=None)
        now = self.clock.now()
        lease = self._lease(f"{owner} {self.new_id()}", kind)
        taken: list[Lease] = []

        def make(mission: Mission) -> Change:
            taken.clear()
            if found is None or not _is_to_evaluate(mission, now):
                return Change(step=Step(mission=mission))
            taken.append(lease)
            after = replace(mission, evaluating=lease, version=mission.version + 1)
            return Change(step=Step(mission=after))

        change = await self.store.change(self.workspace, mission_id, make)
        return kind, change.step.mission, taken[0] if taken else None

    async def _once(
        self, mission: Mission, kind: MissionKind, lease: Lease, check: SuccessCheck | None
    ) -> tuple[Conclusion | None, Mission]:
        """Try once and act on it; where whoever asked is cancelled, the evaluation stays owed."""
        started = self.clock.now()
        beating = asyncio.get_running_loop().create_task(self._beat(mission.id, lease, kind))
        try:
            evaluation = await self.evaluating.try_once(mission, kind, check)
            return await self._act(mission, kind, evaluation, started)
        except BaseException:
            # What went wrong first is what is told; a lease that is left runs out by itself.
            with contextlib.suppress(StoreError, NotFound):
                await asyncio.shield(self._hold(mission.id, lease, None))
            raise
        finally:
            beating.cancel()

    async def _beat(self, mission_id: str, lease: Lease, kind: MissionKind) -> None:
        """Say again and again that it goes on: a process that died is not waited for long."""
        while True:
            await asyncio.sleep(kind.lease_seconds / BEATS)
            with contextlib.suppress(StoreError):  # it may be back before the lease is over
                await self._hold(mission_id, lease, self._lease(lease.owner, kind))

    def _lease(self, owner: str, kind: MissionKind) -> Lease:
        return Lease(owner=owner, until=self.clock.now() + timedelta(seconds=kind.lease_seconds))

    async def _act(
        self, seen: Mission, kind: MissionKind, evaluation: Evaluation, started: datetime
    ) -> tuple[Conclusion | None, Mission]:
        """Conclude from what was found about `seen`, and write it all in one transaction."""
        # Read as late as possible: a switch that turned on meanwhile still counts.
        switches = await self.switches(kind)
        holds = await self.currents.latest(kind.slice_key)
        now = self.clock.now()
        weighed = weigh(evaluation, answered(holds, evaluation, self.models), kind, now)
        row = partial(
            self.recorder.record, seen, kind, weighed, switches=switches, started=started, now=now
        )
        conclusions: list[Conclusion] = []

        def make(mission: Mission) -> Change:
            conclusion = conclude(
                mission,
                kind,
                evaluation,
                sure=weighed.sure,
                switched=bool(switches),
                now=now,
                overdue=self.overdue(mission),
            )
            conclusions[:] = [conclusion]
            decision_id = decision_id_of(seen)
            if evaluation.fault is not None:
                decision_id += f".{mission.version}"  # a try that failed is none of the verdicts
            step = concluded(
                mission,
                kind,
                evaluation,
                conclusion,
                decision_id=decision_id,
                now=now,
                threshold=weighed.threshold.auto,
            )
            record = row(conclusion, decision_id=decision_id) if counts(mission, seen) else None
            return Change(step=step, evaluation=record)

        change = await self.store.change(self.workspace, seen.id, make)
        self.tell(change.step)
        await note_judge(holds, evaluation, self.models)
        return conclusions[0], change.step.mission

    async def _hold(self, mission_id: str, lease: Lease, after: Lease | None) -> None:
        """Put another lease, or none, in the place of one that is still this evaluation's."""

        def make(mission: Mission) -> Change:
            held = mission.evaluating
            if held is None or held.owner != lease.owner:
                return Change(step=Step(mission=mission))
            changed = replace(mission, evaluating=after, version=mission.version + 1)
            return Change(step=Step(mission=changed))

        await self.store.change(self.workspace, mission_id, make)


def _is_to_evaluate(mission: Mission, now: datetime) -> bool:
    """Tell whether something was done that nobody has judged, and nobody is at work on it."""
    for lease in (mission.evaluating, mission.running):
        if lease is not None and lease.holds(now):
            return False
    return mission.state in _AT_WORK and (mission.owed or mission.invocations > mission.evaluated)
