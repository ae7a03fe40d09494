"""Evaluate a mission: one at a time, tried again where it failed, and acted on (M3, M4, M6)."""

from __future__ import annotations

import asyncio
import contextlib
import weakref
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial
from typing import Any

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

    async def run(
        self,
        mission_id: str,
        *,
        owner: str,
        check: SuccessCheck | None,
        only_owed: bool = False,
    ) -> Mission:
        """Evaluate until there is a verdict, or there were too many failures; return what is then.

        Does nothing where nothing is there to be evaluated, or where somebody else is at it.
        """
        async with self.turns.of(mission_id):
            while True:
                kind, mission, lease = await self._claimed(mission_id, owner, only_owed=only_owed)
                if lease is None:
                    return mission
                conclusion, mission = await self._once(mission, kind, lease, check)
                if conclusion is None or conclusion.verdict is not Verdict.RETRY:
                    return mission
                await self.pause(BACK_OFF[max(0, min(mission.faults, len(BACK_OFF)) - 1)])

    async def switches(self, kind: MissionKind) -> tuple[Switch, ...]:
        """Return the switches that are on for a kind of mission, read now."""
        stored = await self.ledger.switches_on(self.workspace, kind.slice_key, None)
        return (*self.hard_switch.read(self.workspace), *stored)

    async def _claimed(
        self, mission_id: str, owner: str, *, only_owed: bool = False
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
            unasked = only_owed and not mission.owed
            if found is None or unasked or not _is_to_evaluate(mission, now):
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
            return await self._act(mission, kind, evaluation, lease, started)
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
        now = self.clock.now()
        return Lease(owner=owner, since=now, until=now + timedelta(seconds=kind.lease_seconds))

    async def _act(
        self,
        seen: Mission,
        kind: MissionKind,
        evaluation: Evaluation,
        lease: Lease,
        started: datetime,
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
        around: dict[str, Any] = {"sure": weighed.sure, "switched": bool(switches), "now": now}
        conclusions: list[Conclusion] = []

        def make(mission: Mission) -> Change:
            conclusion = conclude(
                mission, kind, evaluation, overdue=self.overdue(mission), **around
            )
            conclusions[:] = [conclusion]
            decision_id, held = self._id_of(seen, mission, evaluation), _holds(mission, lease)
            step = concluded(
                mission,
                kind,
                evaluation,
                conclusion,
                seen=seen,
                decision_id=decision_id,
                now=now,
                threshold=weighed.threshold.auto,
                held=held,
            )
            if not counts(mission, seen, held=held):
                return Change(step=step)
            return Change(step=step, evaluation=row(conclusion, decision_id=decision_id))

        change = await self.store.change(self.workspace, seen.id, make)
        self.tell(change.step)
        await note_judge(holds, evaluation, self.models)
        return conclusions[0], change.step.mission

    def _id_of(self, seen: Mission, now: Mission, evaluation: Evaluation) -> str:
        """Return the verdict's id; each try that failed has another."""
        failed_at = None if evaluation.fault is None else now.version
        return self.recorder.evaluation_id(seen, failed_at=failed_at)

    async def _hold(self, mission_id: str, lease: Lease, after: Lease | None) -> None:
        """Put another lease, or none, in the place of one that is still this evaluation's."""

        def make(mission: Mission) -> Change:
            if not _holds(mission, lease):
                return Change(step=Step(mission=mission))
            changed = replace(mission, evaluating=after, version=mission.version + 1)
            return Change(step=Step(mission=changed))

        await self.store.change(self.workspace, mission_id, make)


def _holds(mission: Mission, lease: Lease) -> bool:
    """Tell whether an evaluation is still the one that is under way."""
    return mission.evaluating is not None and mission.evaluating.owner == lease.owner


def _is_to_evaluate(mission: Mission, now: datetime) -> bool:
    """Tell whether something was done that nobody has judged, and nobody is at work on it."""
    for lease in (mission.evaluating, mission.running):
        if lease is not None and lease.holds(now):
            return False
    return mission.state in _AT_WORK and (mission.owed or mission.invocations > mission.evaluated)
