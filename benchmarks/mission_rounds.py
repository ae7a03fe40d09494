"""One mission of a hundred turns, killed again and again, and what is left of it in the store.

A child process runs the mission as a program does, and writes down what was acknowledged to it. It
is killed with SIGKILL at a random point and another one goes on. In the end one more is started,
which must find that nothing is left to do, and the store is read.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path

from sureline import Gate
from sureline.adapters.storage.outbox_rows import notices
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.store import Store, open_store
from sureline.core.values.mission import Cause, EventKind, Mission, MissionEvent, MissionState
from sureline.errors import MissionRefused

TURNS, EVERY = 100, 5
MISSION, KIND = "m1", "books"
LEASE = 1.0
"""Seconds after which an invocation whose process was killed is given up."""
PATIENCE = 150.0
"""Seconds that a process has; what one that was killed was evaluating waits for 91 of them."""
BUSY = 0.05
BY_ANOTHER = {"busy", "evaluation_owed"}
"""What a process that was killed may hold for as long as its lease lasts."""
SLOW = 0.3
"""Seconds of a turn of the mission that is to meet its deadline."""
DEADLINE = 30.0
POLICY = """
version: 1
missions:
  {kind}:
    evaluate_every: {every}
    max_invocations: {most}
    timeout_hours: {hours}
    lease_seconds: {lease}
    check_seconds: {lease}
    budget: {{tokens: {tokens}}}
"""


class Ending(StrEnum):
    """How a mission ends."""

    ACHIEVED = "achieved"
    CEILING = "ceiling"
    BUDGET = "budget"
    CHECK = "check"
    DEADLINE = "deadline"

    @property
    def expected(self) -> tuple[MissionState, Cause]:
        """Return the state and the cause."""
        return {
            Ending.ACHIEVED: (MissionState.COMPLETED, Cause.ACHIEVED),
            Ending.CEILING: (MissionState.FAILED, Cause.CEILING),
            Ending.BUDGET: (MissionState.SUSPENDED, Cause.BUDGET_TOKENS),
            Ending.CHECK: (MissionState.SUSPENDED, Cause.CHECK_FAILED),
            Ending.DEADLINE: (MissionState.FAILED, Cause.DEADLINE),
        }[self]


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What was found of one mission; every number but the first three must be 0."""

    ending: Ending
    kills: int
    begun: int
    lost: int
    """Invocations whose process was killed."""
    after_the_end: int
    """Invocations that began after the mission was suspended, over or past its deadline."""
    unknown: int
    """Invocations that were acknowledged and are not stored, or that are stored twice."""
    evaluated_twice: int
    unjudged: int
    """Invocations that began while an evaluation was owed."""
    escalations: int
    """How many more or fewer than one there are, of what calls a person."""
    deadline_moved: bool
    ended_otherwise: bool
    broken: bool
    """The ledger does not verify, or tables do not follow from it."""

    @property
    def faults(self) -> int:
        """Return how many promises were broken."""
        return sum(
            (
                *(self.after_the_end, self.unknown, self.evaluated_twice, self.unjudged),
                *(self.escalations, self.deadline_moved, self.ended_otherwise, self.broken),
            )
        )


def policy(ending: Ending) -> str:
    """Return the policy under which a mission ends so."""
    return POLICY.format(
        kind=KIND,
        most=TURNS if ending is Ending.CEILING else TURNS * 2,
        hours=_hours(ending),
        every=EVERY,
        lease=LEASE,
        tokens=TURNS * 7 if ending is Ending.BUDGET else 10**9,
    )


def _hours(ending: Ending) -> float:
    return DEADLINE / 3600 if ending is Ending.DEADLINE else 1.0


def _check(ending: Ending, mission: Mission) -> bool:
    """Say whether the work is done; a check that fails does so from the last turn on."""
    done = mission.invocations >= TURNS
    if done and ending is Ending.CHECK:
        raise OSError("no route to the database")
    return done and ending is Ending.ACHIEVED


async def child(store: str, path: str, ending: Ending) -> None:
    """Run the mission until it is refused; each line is written once it was acknowledged."""
    with Gate.open(path, store=store) as gate:
        mission = gate.mission(
            KIND,
            id=MISSION,
            objective="Close a hundred disputes",
            success_check=lambda mission: _check(ending, mission),
        )
        async with mission:
            while True:
                try:
                    invocation = await mission.before_invocation()
                except MissionRefused as refused:
                    if refused.code not in BY_ANOTHER:
                        return _say("refused", refused.code)
                    await asyncio.sleep(BUSY)
                    continue
                _say("begun", invocation.number)
                if ending is Ending.DEADLINE:
                    await asyncio.sleep(SLOW)
                await mission.after_invocation(answer=f"closed {invocation.number}", tokens=7)
                _say("ended", invocation.number)


def _say(what: str, which: int | str) -> None:
    sys.stdout.write(json.dumps([what, which]) + "\n")
    sys.stdout.flush()


@dataclass(slots=True)
class _Runner:
    """Starts children on a store, and reads what they wrote down."""

    store: str
    folder: Path
    ending: Ending
    started: int = 0

    def start(self) -> subprocess.Popen[bytes]:
        self.started += 1
        with (self.folder / f"child-{self.started}.log").open("wb") as out:
            return subprocess.Popen(
                [
                    sys.executable,
                    __file__,
                    self.store,
                    str(self.folder / "policy.yaml"),
                    self.ending,
                ],
                stdout=out,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            )

    def said(self) -> list[tuple[str, int | str]]:
        found = []
        for number in range(1, self.started + 1):
            text = (self.folder / f"child-{number}.log").read_text(encoding="utf-8")
            for line in text.splitlines():
                with suppress(ValueError):  # half a line of who was killed
                    found.append(tuple(json.loads(line)))
        return found

    def wait_for_lines(self, process: subprocess.Popen[bytes], more: int) -> None:
        """Return once the child has written so many lines, or has ended."""
        path = self.folder / f"child-{self.started}.log"
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end and process.poll() is None:
            if path.read_bytes().count(b"\n") >= more:
                return
            time.sleep(0.001)


def one_round(store: str, folder: Path, ending: Ending, kills: int, draw: random.Random) -> Round:
    """Run a mission to its end through so many kills, and look.

    A kill waits for a number of lines that lets all of them fall within the mission, and then for
    a moment that is too short to be noticed: it falls anywhere, also while a process starts.
    """
    (folder / "policy.yaml").write_text(policy(ending), encoding="utf-8")
    runner = _Runner(store, folder, ending)
    each = max(1, 2 * (TURNS - 5) // (kills + 1))
    killed = 0
    for _ in range(kills):
        process = runner.start()
        if draw.random() < 0.1:
            time.sleep(draw.uniform(0.0, 0.5))
        else:
            runner.wait_for_lines(process, draw.randint(1, each))
            time.sleep(draw.uniform(0.0, 0.004))
        killed += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
    for _ in range(2):  # it comes to its end, and then there is nothing left to do
        runner.start().wait(PATIENCE)
    opened = open_store(store)
    try:
        return asyncio.run(_looked(opened, runner, killed))
    finally:
        opened.close()


async def _looked(store: Store, runner: _Runner, killed: int) -> Round:
    mission = await store.missions.mission("default", MISSION)
    assert mission is not None, "no child got as far as making the mission"
    events = await store.missions.events("default", MISSION, limit=10_000)
    of = Counter(one.kind for one in events)
    begun = Counter(one.invocation for one in events if one.kind is EventKind.INVOCATION_BEGUN)
    told = {int(which) for what, which in runner.said() if what == "begun"}
    evaluated = Counter(one.invocation for one in events if one.kind is EventKind.EVALUATED)
    with store.database.snapshot() as each:
        kinds = Counter(row[2] for row in each(compiled(notices.select()), ()))
    calls = sum(kinds[f"mission.{one}"] for one in ("suspended", "failed", "completed"))
    chain = await store.ledger.verify()
    derived = await store.derived.compare()
    return Round(
        ending=runner.ending,
        kills=killed,
        begun=sum(begun.values()),
        lost=of[EventKind.INVOCATION_LOST],
        after_the_end=after_the_end(events, mission.deadline_at),
        unknown=len(told - set(begun)) + sum(count - 1 for count in begun.values()),
        evaluated_twice=sum(count - 1 for count in evaluated.values()),
        unjudged=unjudged(events),
        escalations=abs(calls - 1),
        deadline_moved=mission.deadline_at != _first_deadline(mission, runner.ending),
        ended_otherwise=(mission.state, mission.cause) != runner.ending.expected,
        broken=not (chain.ok and all(one.ok for one in derived)),
    )


def after_the_end(events: Sequence[MissionEvent], deadline: datetime) -> int:
    """Count invocations that began after a person was called, or it was over, or should be."""
    ends = {EventKind.SUSPENDED, EventKind.FAILED, EventKind.COMPLETED}
    over, found = False, 0
    for one in events:
        over = over or one.kind in ends or one.at >= deadline
        found += over and one.kind is EventKind.INVOCATION_BEGUN
    return found


def unjudged(events: Sequence[MissionEvent]) -> int:
    """Count invocations that began though so many had ended since the last evaluation."""
    since, found = 0, 0
    for one in events:
        if one.kind is EventKind.INVOCATION_BEGUN:
            found += since >= EVERY
        since += one.kind is EventKind.INVOCATION_ENDED
        if one.kind in {EventKind.EVALUATED, EventKind.EVALUATION_FAILED}:
            since = 0
    return found


def _first_deadline(mission: Mission, ending: Ending) -> datetime:
    return mission.created_at + timedelta(hours=_hours(ending))


if __name__ == "__main__":
    asyncio.run(child(sys.argv[1], sys.argv[2], Ending(sys.argv[3])))
