"""Missions here and in promptise: what each makes of the same faults, and what a turn costs.

The peer runs in an interpreter of its own, which has `promptise` installed; by default the one that
runs this, if it can be imported there. Without it our half is shown alone. `--write` also runs
`mission_kills.py`, whose table is on the same page.

Run: python benchmarks/peers_missions.py [--peer-python PATH] [--json] [--write]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

from figures import hand_out, machine, sections_of
from mission_faults import FAULTS, TURNS, Found
from p3_start import core_distributions, size
from page import Section, write
from sureline_missions import everything, turns

HERE = Path(__file__).parent
PROCESSES = 5
OURS = "import sureline"
OUR_TURN = """
import json
from sureline.bootstrap import open_services
from sureline.gate import Gate
with Gate(open_services("sqlite:///first.db")) as gate:
    kinds = {"books": {"judge": {"model": "two:sceptic-1"}}}
    gate.run(gate.services.policies.introduce(json.dumps({"version": 1, "missions": kinds})))
    with gate.mission("books", objective="Close the disputes") as mission:
        mission.before_invocation_sync()
        mission.after_invocation_sync(answer="Closed.")
"""
THEIRS = "import promptise.runtime"
THEIR_TURN = """
import asyncio
from promptise.runtime.config import MissionConfig
from promptise.runtime.journal import FileJournal
from promptise.runtime.mission import MissionTracker
tracker = MissionTracker(MissionConfig(enabled=True, objective="Close the disputes"), "p")
tracker.increment_invocation()
asyncio.run(FileJournal(".").checkpoint("p", tracker.to_dict()))
"""
PEER = "promptise"
EXTRAS = (
    *("cachetools", "httpx2", "pydantic-ai-slim", "anthropic", "openai"),
    *("apprise", "standardwebhooks"),
)
ABOUT = (
    "Written by `python benchmarks/peers_missions.py --peer-python PATH --write`; what a "
    "mission is stands in [missions](../explanation/missions.md). promptise is another "
    "package that judges whether an agent is finished; it is installed in an environment of "
    "its own, and its judge is a scripted model, as ours is. A row is one input that was "
    "given to both."
)


def peer(python: str) -> dict[str, Any]:
    """Run the faults in the peer's interpreter."""
    done = subprocess.run(
        [python, str(HERE / "promptise_missions.py")], capture_output=True, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def cpu_seconds(python: str, statements: str) -> float:
    """Return the median CPU time of statements in a new process, that of Python itself left out."""
    script = f"import time\na = time.process_time()\n{statements}\nprint(time.process_time() - a)"
    taken = []
    for _ in range(PROCESSES):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [python, "-c", script], capture_output=True, text=True, check=True, cwd=folder
            )
        taken.append(float(done.stdout.splitlines()[-1]))
    return median(taken)


def faults(ours: list[Found], theirs: dict[str, Any] | None) -> Section:
    """Return the table of faults."""
    ours_by = {one.key: asdict(one) for one in ours}
    theirs_by = {one["key"]: one for one in theirs["found"]} if theirs else {}
    rows = []
    for fault in FAULTS:
        row = [fault.title, fault.right, _said(ours_by[fault.key])]
        rows.append((*row, _said(theirs_by[fault.key])) if theirs else tuple(row))
    named = (f"{PEER} {theirs['version']}",) if theirs else ()
    return Section(
        title="The same faults",
        note="What is to come of each, and what came of it; ✗ marks what is not right.",
        heading=("fault", "is to be", "sureline", *named),
        rows=tuple(rows),
    )


def _said(found: dict[str, Any]) -> str:
    return f"{'✓' if found['right'] else '✗'} {found['said']}"


def costs(turn: float, theirs: dict[str, Any] | None, python: str | None) -> Section:
    """Return what a turn, an import and an installation cost, and ratios."""
    ours = (
        *(cpu_seconds(sys.executable, one) for one in (OURS, OUR_TURN)),
        *(turn, installed() / 1e6),
    )
    rows = [("sureline", *_figures(*ours))]
    if theirs and python:
        its = theirs["turn"]
        found = (
            *(cpu_seconds(python, one) for one in (THEIRS, THEIR_TURN)),
            *(its["kept"], theirs["size"] / 1e6),
        )
        rows.append((PEER, *_figures(*found)))
        ratios = (f"{its_one / our_one:.2g}" for our_one, its_one in zip(ours, found, strict=True))
        rows.append((f"{PEER} ÷ sureline", *ratios))
        rows.append((f"{PEER}, kept nowhere", "", "", f"{its['tracker']:.2f} µs", ""))
    return Section(
        title="What it costs",
        note="CPU of an import, and of all up to the first turn that is kept, in a new process; "
        f"a turn of {TURNS}, whose two steps are in a hash-chained ledger here, and whose "
        "checkpoint is in a file journal there (both wait for the disk); the installation with "
        "what asks models and sends webhooks. "
        f"{machine()}.",
        heading=("", "import", "first turn", "turn", "installed"),
        rows=tuple(rows),
    )


def installed() -> int:
    """Return the bytes of the core with what asks models and sends webhooks."""
    found: set[str] = set()
    for name in ("sureline", *EXTRAS):
        core_distributions(name, found)
    return sum(map(size, found))


def _figures(imported: float, first: float, turn: float, megabytes: float) -> tuple[str, ...]:
    return f"{imported:.2f} s", f"{first:.2f} s", f"{turn:,.0f} µs", f"{megabytes:.0f} MB"


def kills() -> list[Section]:
    """Run the other benchmark of the page."""
    done = subprocess.run(
        [sys.executable, str(HERE / "mission_kills.py"), "--json"],
        stdout=subprocess.PIPE,
        text=True,
        check=False,  # what was broken stands in the table
    )
    return sections_of(done.stdout)


def main() -> None:
    """Run both halves and print the tables; exit code 1 if ours did something that is not right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer-python", default=sys.executable if find_spec(PEER) else None)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="write the page in docs/reference")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    began = time.perf_counter()
    theirs = peer(given.peer_python) if given.peer_python else None
    with tempfile.TemporaryDirectory() as name:
        ours = asyncio.run(everything(Path(name)))
        turn = asyncio.run(turns(Path(name)))
    sections = [faults(ours, theirs), costs(turn, theirs, given.peer_python)]
    if given.write:
        sections += kills()
        write("missions-benchmark.md", "Missions, measured", ABOUT, sections)
    hand_out(sections, as_json=given.json, seconds=time.perf_counter() - began)
    raise SystemExit(0 if all(one.right for one in ours) else 1)


if __name__ == "__main__":
    main()
