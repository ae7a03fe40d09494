"""Wire a supervised mission: its file, its trigger, and the programs that it runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from sureline.adapters.policies import load_policy
from sureline.adapters.policies.mission_file import MissionFile, read_mission_file, seconds_of
from sureline.adapters.processes.child import Children, Sink, why_not_startable
from sureline.adapters.processes.cron_times import cron_times
from sureline.adapters.processes.exchange import FileExchange
from sureline.adapters.processes.file_triggers import FileTrigger, QueueTrigger
from sureline.adapters.steady_time import seconds_since_boot
from sureline.application.mission.in_json import event_json
from sureline.application.mission.invoke import Invoker
from sureline.application.mission.new_mission import NewMission
from sureline.application.mission.standing import Standing
from sureline.application.mission.supervise import Supervisor
from sureline.application.mission.supervised import Plan
from sureline.application.mission.told_timeline import ToldTimeline
from sureline.application.mission.triggers import Cron, Interval
from sureline.application.ports.processes import Trigger
from sureline.bootstrap.services import Services
from sureline.core.values.mission import EventKind, Mission, MissionEvent
from sureline.errors import InvalidInput, NotFound

__all__ = ["Supervision", "check_startable", "prepared", "read_mission_file", "supervising"]

_ENDS = frozenset({"process_ended", "not_started"})
_INVOKED = frozenset({EventKind.INVOCATION_BEGUN, EventKind.TRIGGER_SKIPPED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Supervision:
    """What a mission's file is driven with.

    `tell` takes what happens, one mapping each; `sink` takes what programs write; `stopping` is set
    when it is to end.
    """

    file: MissionFile
    command: Sequence[str]
    tell: Callable[[Mapping[str, Any]], None]
    sink: Sink
    stopping: asyncio.Event


def check_startable(file: MissionFile, command: Sequence[str]) -> None:
    """Raise InvalidInput where the command, or the check's, is no program that can be started."""
    check = file.settings.check
    for where, one in (
        ("the command", command),
        (f"{file.path}: check.command", None if check is None else check.command),
    ):
        why = None if one is None else why_not_startable(one[0])
        if why is not None:
            raise InvalidInput(f"{where}: {why}")


async def prepared(services: Services, file: MissionFile) -> tuple[Mission, tuple[str, ...]]:
    """Bring a file's policy and mission before the store; also return what to tell a person.

    A mission that is there already is gone on with as it stands: who changed its objective since
    is not overruled by a file. Raises PolicyError, InvalidInput naming the file, Conflict.
    """
    wanted = file.settings
    notes = [*file.warnings, *await _with_policy(services, file)]
    if await services.policies.active_hash() is None:
        raise InvalidInput(
            f"{file.path}: the store has no policy; activate one (sureline policy activate), name "
            f"its file under policy:, or describe the kind {wanted.kind!r} here under missions:"
        )
    policy = await services.policies.latest()
    if wanted.kind not in policy.missions:
        known = ", ".join(sorted(policy.missions)) or "none"
        words = f"the policy has no kind of mission {wanted.kind!r} (it has: {known})"
        raise InvalidInput(f"{file.path}: kind: {words}")
    try:
        found = await services.missions.mission(wanted.id)
    except NotFound:
        return await _created(services, file), tuple(notes)
    return found, (*notes, *_differences(found, file))


async def _created(services: Services, file: MissionFile) -> Mission:
    try:
        return await services.missions.create(_new(file))
    except InvalidInput as error:
        where = file.limits_at.get(error.field or "", str(file.path))
        raise InvalidInput(f"{where}: {error.message}") from error


async def _with_policy(services: Services, file: MissionFile) -> list[str]:
    """Bring the file's policy before the store, and say where the store has another.

    Kinds that a mission's file describes itself are only for a store without a policy: beside one
    they would be a way round whoever may change it.
    """
    if file.settings.policy is not None:
        await services.prepare(file.beside(file.settings.policy))
    if file.policy is None:
        return []
    if await services.policies.active_hash() is None:
        await services.policies.introduce(file.policy)
        return []
    kind, held = file.settings.kind, await services.policies.latest()
    own = load_policy(file.policy).policy.missions
    if held.missions.get(kind) == own.get(kind):
        return []
    return [
        f"the store has a policy, which holds; missions of {file.path} are not read (to change a "
        "kind: sureline policy activate)"
    ]


@contextmanager
def supervising(
    services: Services,
    supervision: Supervision,
    mission: Mission,
    events: Sequence[MissionEvent],
    lease: float,
) -> Iterator[Supervisor]:
    """Yield what drives a mission; nothing that it started is left afterwards.

    `events` are those that are there already, which are not told. Raises InvalidInput naming the
    file for a trigger that cannot be, MissingExtra for cron without its extra.
    """
    wanted, clock = supervision.file.settings, services.clock
    trigger = _trigger(supervision.file, mission, events)
    ends: dict[int, Mapping[str, Any]] = {}
    timeline = ToldTimeline(lambda event: supervision.tell(_line(event, ends)))
    timeline.begin(mission, events)
    exchange = FileExchange()
    children = Children(grace=wanted.grace_seconds, sink=supervision.sink)

    def tell(event: Mapping[str, Any]) -> None:
        if event["event"] in _ENDS:
            ends[event["invocation"]] = {
                name: event.get(name) for name in ("exit_code", "ended_for")
            }
        supervision.tell({**event, "at": clock.now().isoformat()})

    standing = Standing(
        mission=mission,
        missions=services.missions,
        timeline=timeline,
        tell=tell,
        elapsed=seconds_since_boot,
        stopping=supervision.stopping,
    )
    invoker = Invoker(
        plan=_plan(supervision, mission, lease),
        standing=standing,
        processes=children,
        exchange=exchange,
        trigger=trigger,
        clock=clock,
        owner=services.plugins.new_id(),
    )
    try:
        yield Supervisor(invoker=invoker, standing=standing)
    finally:
        children.close()
        exchange.close()


def _plan(supervision: Supervision, mission: Mission, lease: float) -> Plan:
    wanted = supervision.file.settings
    return Plan(
        mission_id=mission.id,
        command=supervision.command,
        timeout=seconds_of(wanted.timeout),
        lease=lease,
        check=None if wanted.check is None else wanted.check.command,
    )


def _line(event: MissionEvent, ends: dict[int, Mapping[str, Any]]) -> dict[str, Any]:
    """Return a row of the timeline as it is told: what happened comes first, as everywhere here.

    The end of an invocation also says how its command ended, where it was ours.
    """
    told = event_json(event)
    is_end = event.kind is EventKind.INVOCATION_ENDED
    end = ends.pop(event.invocation, {}) if is_end else {}
    return {"event": told.pop("kind"), **told, **end}


def _new(file: MissionFile) -> NewMission:
    wanted = file.settings
    return NewMission(
        id=wanted.id,
        kind=wanted.kind,
        objective=wanted.objective,
        criteria=tuple(wanted.criteria),
        hours=wanted.limits.hours,
        max_invocations=wanted.limits.max_invocations,
        has_check=wanted.check is not None,
    )


def _differences(found: Mission, file: MissionFile) -> Iterator[str]:
    wanted = file.settings
    if found.kind != wanted.kind:
        raise InvalidInput(
            f"{file.path}: the mission {found.id!r} is of the kind {found.kind!r}, not "
            f"{wanted.kind!r}; give another id to start a new one"
        )
    if (found.objective, found.criteria) != (wanted.objective, tuple(wanted.criteria)):
        yield (
            f"the mission {found.id} has another objective or other criteria than {file.path}; "
            f"those of the mission hold (to change them: sureline mission change {found.id})"
        )
    hours = (found.deadline_at - found.created_at).total_seconds() / 3600
    for name, given, held in (
        ("hours", wanted.limits.hours, hours),
        ("max_invocations", wanted.limits.max_invocations, found.max_invocations),
    ):
        if given is not None and given != held:
            yield (
                f"{file.limits_at[name]}: the mission {found.id} is there already, with {held:g}, "
                f"which holds (to raise it: sureline mission extend {found.id})"
            )


def _trigger(file: MissionFile, mission: Mission, events: Sequence[MissionEvent]) -> Trigger:
    given = file.settings.trigger
    if given.every is not None:
        return Interval(seconds_of(given.every))
    if given.file is not None:
        return FileTrigger(file.beside(given.file).absolute())
    if given.queue is not None:
        return QueueTrigger(directory=_directory(file, given.queue), mission=mission.id)
    assert given.cron is not None
    assert given.timezone is not None
    try:
        times = cron_times(given.cron, ZoneInfo(given.timezone))
    except InvalidInput as error:
        raise InvalidInput(f"{file.path}: trigger.cron: {error.message}") from None
    return Cron(name=f"cron {given.cron}", times=times, since=_since(mission, events))


def _since(mission: Mission, events: Sequence[MissionEvent]) -> datetime:
    """Return from when on times count: what was missed while nobody supervised is made up once."""
    return max((one.at for one in events if one.kind in _INVOKED), default=mission.created_at)


def _directory(file: MissionFile, given: str) -> Path:
    found = file.beside(given).absolute()
    if not found.is_dir():
        raise InvalidInput(f"{file.path}: trigger.queue: {str(found)!r} is no directory")
    return found
