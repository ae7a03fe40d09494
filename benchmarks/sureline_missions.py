"""Our missions under the faults of `mission_faults`: the real gate, store, judge and outbox.

The judge is the product's own, with the contract of its replies; only the provider behind it is
scripted, and time is told by a clock that is set by hand. Webhooks go to a server of this process.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from mission_faults import FAULTS, PATIENCE, SURE, TURNS, Found

from sureline import Gate
from sureline.application.ports.models import Asking, Prompt, Reply
from sureline.bootstrap import Plugins, courier_of, open_services, operations_of
from sureline.errors import MissionRefused, ModelFailed
from sureline.testing import FixedClock

REPLIES = {one.key: one.reply for one in FAULTS}
OBJECTIVE, CRITERIA = "Close the disputes", ("Five are closed",)
SECRET = "whsec_" + base64.b64encode(b"only a benchmark's secret").decode()
KIND = {"judge": {"model": "test:judge", "seconds": 0.5, "tries": 1}, "evaluate_every": 1}


@dataclass
class Provider:
    """What is behind the judge: it says a text, hangs or fails, and counts how often it does."""

    says: str = SURE
    hangs: bool = False
    fails: bool = False
    asked: int = 0

    async def ask(self, _: Prompt, asking: Asking) -> Reply:
        self.asked += 1
        if self.hangs:
            await asyncio.sleep(3600)
        if self.fails:
            raise ModelFailed("unreachable", "the provider is away")
        return Reply(text=self.says, model=asking.model)


@dataclass
class World:
    """A gate on a store of its own, whose provider and clock a fault turns."""

    provider: Provider = field(default_factory=Provider)
    clock: FixedClock = field(default_factory=FixedClock)
    settings: dict[str, Any] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)
    store: str = "sqlite://"

    @contextmanager
    def gate(self) -> Iterator[Gate]:
        """Open the gate."""
        policy = {"version": 1, "missions": {"books": {**KIND, **self.settings}}, **self.more}
        plugins = Plugins(model_client=self.provider, clock=self.clock)
        with Gate(open_services(self.store, plugins=plugins)) as gate:
            gate.run(gate.services.policies.introduce(json.dumps(policy)))  # JSON is YAML
            yield gate


async def turn(mission: Any) -> bool:
    """Run one turn and evaluate it; False if it was refused."""
    try:
        await mission.before_invocation()
    except MissionRefused:
        return False
    await mission.after_invocation(answer="I have looked into it", tokens=10, cost=0.0)
    await mission.evaluate()
    return True


async def first_turn(gate: Gate, check: Callable[..., Any] | None = None) -> Any:
    """Return a mission after its first turn."""
    mission = gate.mission(
        "books", id="m1", objective=OBJECTIVE, criteria=CRITERIA, success_check=check
    )
    async with mission:
        await turn(mission)
    return await gate.services.missions.mission("m1")


def shown(mission: Any) -> str:
    """Say in a few words how a mission stands."""
    return f"{mission.state.value} ({mission.cause.value})"


async def unsure() -> Found:
    """Run on after a judge that is not sure."""
    with World(Provider(REPLIES["unsure"])).gate() as gate:
        first = await first_turn(gate)
        async with gate.mission("books", id="m1", objective=OBJECTIVE, criteria=CRITERIA) as one:
            ran = [await turn(one) for _ in range(3)]
        return Found("unsure", f"{shown(first)}; {sum(ran)} more turns ran", not any(ran))


async def judged(key: str) -> Found:
    """Let a judge say what the fault says."""
    with World(Provider(REPLIES[key])).gate() as gate:
        found = await first_turn(gate)
    said = found.last.confidence if key == "hundredth" else found.last.fault
    cause = "unsure" if key == "hundredth" else "judge_unavailable"
    right = found.state.value == "suspended" and found.cause.value == cause
    return Found(key, f"{shown(found)}: {said}", right)


async def hung() -> Found:
    """Wait for a judge that never answers."""
    begun = time.monotonic()
    with World(Provider(hangs=True)).gate() as gate:
        found = await first_turn(gate)
    took = time.monotonic() - begun
    right = found.cause.value == "judge_unavailable" and took < PATIENCE
    return Found("hung", f"{shown(found)} after {took:.1f} s: {found.last.fault}", right)


async def failing() -> Found:
    """Ask a judge that fails."""
    with World(Provider(fails=True)).gate() as gate:
        found = await first_turn(gate)
    right = found.last.achieved is None and found.cause.value == "judge_unavailable"
    return Found("failing", f"{shown(found)}: {found.last.fault}", right)


async def checked(key: str, check: Callable[..., Any]) -> Found:
    """Give a mission a success check; a judge that is asked says that all is achieved."""
    world = World()
    with world.gate() as gate:
        found = await first_turn(gate, check)
    said = f"{shown(found)}; the judge was asked {world.provider.asked} times"
    expected = {"raising": "check_failed", "awaited": "started"}[key]
    return Found(key, said, not world.provider.asked and found.cause.value == expected)


def raises(_: Any) -> bool:
    """Fail, as a check does whose database is away."""
    raise OSError("no route to the database")


async def says_no(_: Any) -> bool:
    """Say that it is not achieved."""
    return False


@dataclass
class Receiver:
    """A receiver on this machine; `statuses` are what it answers, the last for all further ones."""

    statuses: list[int]
    came: list[dict[str, str]] = field(default_factory=list)
    port: int = 0


@contextmanager
def receiving(statuses: list[int]) -> Iterator[Receiver]:
    """Run a receiver."""
    receiver = Receiver(statuses)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            receiver.came.append({name.lower(): text for name, text in self.headers.items()})
            self.send_response(statuses[min(len(receiver.came), len(statuses)) - 1])
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def telling(receiver: Receiver) -> World:
    """Return a world whose escalations go to a receiver."""
    channel = {
        "name": "pager",
        "kind": "webhook",
        "url": f"http://127.0.0.1:{receiver.port}/",
        "secret_from": "MISSIONS_SECRET",
        "events": ["mission_suspended"],
    }
    os.environ["MISSIONS_SECRET"] = SECRET
    told = {"notifications": {"allow_private": ["127.0.0.1"], "channels": [channel]}}
    return World(Provider(REPLIES["unsure"]), more=told)


async def told() -> list[Found]:
    """Escalate to a receiver that answers 503, then 204; and to one that answers 404."""
    with receiving([503, 204]) as receiver:
        world = telling(receiver)
        with world.gate() as gate:
            await first_turn(gate)
            for _ in range(2):
                await courier_of(gate.services).round()
                world.clock.advance(timedelta(minutes=1))
    tries, signed = len(receiver.came), all("webhook-signature" in one for one in receiver.came)
    with receiving([404]) as refusing, telling(refusing).gate() as gate:
        await first_turn(gate)
        await courier_of(gate.services).round()
        (kept,) = await gate.services.store.outbox.list(
            "default", state=None, channel=None, limit=9
        )
        counted = (await operations_of(gate.services).read()).dead
    return [
        Found("retried", f"{tries} requests, under one id", tries == 2),
        Found("signed", "signed" if signed else "no signature", signed),
        Found(
            "heeded",
            f"kept as {kept.state.value}: {kept.said}",
            kept.state == "dead" and counted == 1,
        ),
    ]


async def changed() -> Found:
    """Let the criteria change after a verdict; the mission is judged anew."""
    world = World(settings={"auto_complete": False})
    with world.gate() as gate:
        before = await first_turn(gate)
        missions = gate.services.missions
        after = await missions.change("m1", by="Ada", criteria=("All fifty are closed",))
        await missions.resume("m1", by="Ada")
        again = await missions.evaluate("m1", owner="benchmark")
    void = after.last is None and again.revision == before.revision + 1
    judged_again = again.last is not None and world.provider.asked == 2
    said = f"the verdict is gone, and {world.provider.asked - 1} new one was made"
    return Found("changed", said, void and judged_again)


async def downtime(folder: Path) -> Found:
    """Stop for nine hours of a mission of eight."""
    world = World(
        Provider('{"achieved": false, "confidence": 0.9, "reasoning": "", "progress": ""}'),
        settings={"timeout_hours": 8},
        store=f"sqlite:///{folder / 'down.db'}",
    )
    with world.gate() as gate:
        await first_turn(gate)
    world.clock.advance(timedelta(hours=9))
    with world.gate() as gate:
        async with gate.mission("books", id="m1", objective=OBJECTIVE, criteria=CRITERIA) as one:
            ran = await turn(one)
        found = await gate.services.missions.mission("m1")
    return Found("downtime", shown(found), not ran and found.cause.value == "deadline")


async def turns(folder: Path) -> float:
    """Return microseconds of a turn: both steps on the disk, no evaluation."""
    world = World(
        settings={"evaluate_every": TURNS + 1, "max_invocations": TURNS + 1},
        store=f"sqlite:///{folder / 'turns.db'}",
    )
    with world.gate() as gate:
        async with gate.mission("books", objective=OBJECTIVE, criteria=CRITERIA) as mission:
            begun = time.perf_counter()
            for number in range(TURNS):
                await mission.before_invocation()
                await mission.after_invocation(answer=f"turn {number}", tokens=10, cost=0.0)
            return (time.perf_counter() - begun) / TURNS * 1e6


async def everything(folder: Path) -> list[Found]:
    """Return what came of every fault."""
    judgements = ("hundredth", "string", "nan", "percent", "missing")
    found = [await unsure(), *[await judged(key) for key in judgements]]
    found += [await hung(), await failing()]
    found += [await checked("raising", raises), await checked("awaited", says_no)]
    return [*found, *await told(), await changed(), await downtime(folder)]
