"""promptise's missions under the faults of `mission_faults`, run by an interpreter that has it.

Prints one object of JSON: what came of each fault, the time of a turn, and the size.
Nothing leaves this machine: the judge is scripted, and webhooks go to a server of this process.
Run by `peers_missions.py`.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any

from mission_faults import FAULTS, PATIENCE, SURE, THRESHOLD, TURNS, Found
from promptise.runtime import AgentProcess, ProcessConfig
from promptise.runtime import mission as missions
from promptise.runtime.config import EscalationTarget, MissionConfig
from promptise.runtime.escalation import escalate
from promptise.runtime.journal import FileJournal
from promptise.runtime.mission import (
    MissionEvaluation,
    MissionEvidence,
    MissionTracker,
)
from promptise.runtime.triggers.base import TriggerEvent
from promptise.testing import ScriptedModel

REPLIES = {one.key: one.reply for one in FAULTS}


class Judge(ScriptedModel):
    """Answers with a reply, counts how often it is asked; can hang or fail."""

    hangs: bool = False
    fails: bool = False

    async def _agenerate(self, *given: Any, **more: Any) -> Any:
        if self.hangs:
            await asyncio.sleep(3600)
        if self.fails:
            raise RuntimeError("the provider is away")
        return await super()._agenerate(*given, **more)


def judge(text: str = SURE, **more: Any) -> Judge:
    """Return a judge that always says the same."""
    return Judge([text], on_exhausted="repeat_last", **more)


def config(**more: Any) -> MissionConfig:
    """Return a mission."""
    given = {"enabled": True, "objective": "Close the disputes", "eval_every": 1}
    return MissionConfig(**{**given, "confidence_threshold": THRESHOLD, **more})


def tracker(check: Callable[..., Any] | None = None, **more: Any) -> MissionTracker:
    """Return a tracker after its first turn."""
    found = MissionTracker(config(**more), "p", success_check=check)
    found.increment_invocation()
    return found


async def judged(key: str) -> Found:
    """Let a judge say what the fault says."""
    found = tracker()
    said = await found.evaluate(MissionEvidence(), judge(REPLIES[key]))
    completed = found.state.value == "completed"
    shown = f"{found.state.value}: achieved {said.achieved}, confidence {said.confidence}"
    unjudged = said.source != "llm"
    return Found(key, shown, not completed and (key == "hundredth" or unjudged))


async def unsure() -> Found:
    """Run a process on after a judge that is not sure."""
    model = judge(REPLIES["unsure"])
    settings = ProcessConfig(model=model, instructions="Work.", mission=config())
    process = AgentProcess("p", settings)
    await process.start()
    for number in range(4):
        await process._invoke_agent(TriggerEvent(trigger_id=f"t{number}"))
    ran = process._mission.invocation_count - 1
    judgements = process._mission.evaluation_count
    state = process._mission.state.value
    await process.stop()
    return Found("unsure", f"{state}; {ran} more turns ran, {judgements - 1} were judged", ran == 0)


async def hung() -> Found:
    """Wait for a judge that never answers."""
    found = tracker(timeout_hours=0.1 / 3600)
    begun = time.monotonic()
    try:
        async with asyncio.timeout(PATIENCE):
            await found.evaluate(MissionEvidence(), judge(hangs=True))
    except TimeoutError:
        return Found(
            "hung", f"still waiting {PATIENCE:g} s later, past the mission's own timeout", False
        )
    return Found("hung", f"{found.state.value} after {time.monotonic() - begun:.1f} s", True)


async def failing() -> Found:
    """Ask a judge that fails."""
    found = tracker()
    await found.evaluate(MissionEvidence(), judge(fails=True))
    (said,) = found.evaluations
    shown = f"{found.state.value}: achieved {said.achieved}, confidence {said.confidence}"
    return Found("failing", f"{shown}, by {said.source}", said.source != "llm")


async def checked(key: str, check: Callable[..., Any]) -> Found:
    """Give a mission a success check; a judge that is asked says that all is achieved."""
    found, asked = tracker(check), judge()
    said: MissionEvaluation = await found.evaluate(MissionEvidence(), asked)
    shown = f"{found.state.value}; the judge was asked {len(asked.calls)} times"
    return Found(key, shown, not asked.calls and not said.achieved)


def raises(_: Any) -> bool:
    """Fail, as a check does whose database is away."""
    raise OSError("no route to the database")


async def says_no(_: Any) -> bool:
    """Say that it is not achieved."""
    return False


async def told() -> list[Found]:
    """Escalate to a receiver that answers 503, then 204; and to one that answers 404."""
    from promptise.mcp.server import _openapi

    _openapi._is_private_ip = lambda _: False  # this machine may be called for once
    came: list[dict[str, str]] = []
    status = [503, 204]

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            came.append({name.lower(): text for name, text in self.headers.items()})
            self.send_response(status[min(len(came), len(status)) - 1])
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    target = EscalationTarget(webhook_url=f"http://127.0.0.1:{server.server_address[1]}/")
    await escalate(target, {"type": "low_confidence"})
    await asyncio.sleep(1)
    tries, signed = len(came), any("signature" in name for one in came for name in one)
    status[:] = [404]
    refused = await escalate(target, {"type": "low_confidence"})
    server.shutdown()
    return [
        Found("retried", f"{tries} request" + ("s" if tries != 1 else ""), tries > 1),
        Found("signed", "signed" if signed else "no signature", signed),
        Found("heeded", "a line in the log; nothing is kept, nothing returned", bool(refused)),
    ]


async def changed() -> Found:
    """Restart a completed mission under other criteria."""
    before = tracker(success_criteria="Five are closed")
    await before.evaluate(MissionEvidence(), judge())
    after = MissionTracker(config(success_criteria="All fifty are closed"), "p")
    try:
        after.restore(before.to_dict())
    except ValueError:
        return Found("changed", "not restored", True)
    void = after.state.value == "active" and not after.evaluations
    return Found("changed", f"{after.state.value}, on the verdict of before", void)


def downtime() -> Found:
    """Stop for nine hours of a mission of eight."""
    hours = [0.0]

    class Clock:
        monotonic = staticmethod(lambda: 1e6 + hours[0] * 3600)

    real, missions.time = missions.time, Clock
    try:
        before = tracker(timeout_hours=8)
        stored = before.to_dict()
        hours[0] = 9
        after = MissionTracker(config(timeout_hours=8), "p")
        after.restore(stored)
        over = after.is_timed_out()
    finally:
        missions.time = real
    return Found("downtime", "over" if over else "8 hours are left", over)


async def turns(folder: str) -> dict[str, float]:
    """Return microseconds of a turn: the tracker's own, and its checkpoint in a file journal."""
    found = MissionTracker(config(eval_every=TURNS + 1), "p")
    begun = time.perf_counter()
    for _ in range(TURNS):
        found.is_timed_out()
        found.increment_invocation()
        found.should_evaluate()
    bare = (time.perf_counter() - begun) / TURNS * 1e6
    journal = FileJournal(folder)
    begun = time.perf_counter()
    for _ in range(TURNS):
        found.increment_invocation()
        await journal.checkpoint("p", {"mission": found.to_dict()})
    return {"tracker": bare, "kept": (time.perf_counter() - begun) / TURNS * 1e6}


def size() -> int:
    """Return how many bytes this environment's packages take."""
    root = Path(str(distribution("promptise").locate_file("")))
    mine = (one for one in root.iterdir() if not one.name.startswith(("pip", "setuptools")))
    files = (file for one in mine for file in (one.rglob("*") if one.is_dir() else (one,)))
    return sum(file.stat().st_size for file in files if file.is_file())


async def main() -> None:
    """Run everything and print it."""
    judgements = ("hundredth", "string", "nan", "percent", "missing")
    found = [await unsure(), *[await judged(key) for key in judgements]]
    found += [await hung(), await failing()]
    found += [await checked("raising", raises), await checked("awaited", says_no)]
    found += [*await told(), await changed(), downtime()]
    with tempfile.TemporaryDirectory() as folder:
        times = await turns(folder)
    said = {
        "version": version("promptise"),
        "found": [asdict(one) for one in found],
        "turn": times,
        "size": size(),
    }
    sys.stdout.write(json.dumps(said) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    asyncio.run(main())
