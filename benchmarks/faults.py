"""Kill loaded gates and a loaded worker at random points, on each store: is anything lost?

Each round: two processes decide, use approvals and record verdicts at full speed, writing down what
was acknowledged to them, while a worker tells a webhook of every verdict. At random moments, in
random order, each of the three is killed with SIGKILL; another worker goes on, and is killed as
well. Then new processes repeat every proposal and every verdict and try to use every approval
again, the last worker tells what is left, and the store is verified:

* acknowledged = stored: every decision that was acknowledged is there, with the same answer;
* released at most once: no approval was granted to two callers;
* told at least once: every acknowledged verdict reached the webhook, however often under one id
  and with the same words;
* the chain verifies, and labels and counts are what the ledger says.

Run: python benchmarks/faults.py [--rounds 20] [--store sqlite|postgres|both] [--json] [--write]
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from figures import hand_out
from page import Section, write
from sink import Sink
from stores import TITLES, add_store_option, chosen, stores

import sureline
from sureline.adapters.clock import SystemClock
from sureline.adapters.storage.store import open_store
from sureline.errors import SurelineError

CALLERS = 16
LONGEST = 3.0
"""Seconds of load within which a process is killed."""
PATIENCE = 150.0
"""Seconds that the last worker has: on a file what a dead one held is due after 105."""
TO_PEOPLE = 10
"""One of so many outputs gets a person's verdict."""
GATES = ("a", "b")
SECRET = "whsec_" + base64.b64encode(b"only a benchmark's secret").decode()
POLICY = """
version: 1
notifications:
  allow_private: [127.0.0.1]
  channels:
    - {{name: agents, kind: webhook, url: "{url}", secret_from: FAULTS_SECRET,
        at_most_per_minute: 6000, events: [decided]}}
slices:
  invoices:
    mode: route
    weights: {{verification: 1}}
    output: {{json_schema: {{type: object, required: [amount]}}}}
    hypothesis: {{auto: 0.85, allow_uncertified: true, starts: "{today}"}}
    review: {{undo_seconds: 0, honeypots: 0, double_review: 0}}
"""
Line = list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What one round found."""

    killed: int
    acknowledged: int
    lost: int
    released: int
    twice: int
    verdicts: int
    untold: int
    again: int
    differing: int
    holds: bool


async def _load(gate: sureline.Gate, name: str, numbers: Iterator[int]) -> None:
    """Decide, use approvals and judge; write down each answer as soon as it is there."""
    for number in numbers:
        to_people = number % TO_PEOPLE == 0
        made = await gate.decide(
            id=f"{name}-{number}",
            task=f"Read invoice {name}-{number}",
            output={"amount": number},
            slice_key="invoices",
            force_human=to_people,
        )
        _write(["decided", made.id, made.route])
        if to_people:
            # A verdict that was given already is refused: that is how a repetition ends.
            with suppress(SurelineError):
                await gate.record_outcome(made.id, action="approve", by="Ada")
                _write(["judged", made.id])
        if to_people or made.approved:
            with suppress(SurelineError):
                await gate.consume(made.id, output=made.output)
                _write(["released", made.id])


def _write(line: Line) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


async def _child(store: str, policy: str, name: str, count: int) -> None:
    numbers = itertools.count() if not count else iter(range(count))
    async with sureline.Gate.open(policy, store=store) as gate:
        await asyncio.gather(*(_load(gate, name, numbers) for _ in range(CALLERS)))


@dataclass(slots=True)
class Arena:
    """One round's store, its policy and its processes."""

    store: str
    folder: Path

    def prepare(self, url: str) -> None:
        """Write the policy; `url` is the webhook's."""
        text = POLICY.format(today=SystemClock().now().date(), url=url)
        (self.folder / "policy.yaml").write_text(text, encoding="utf-8")

    def gate(self, name: str, count: int = 0) -> subprocess.Popen[bytes]:
        """Start a gate that decides `count` proposals, or goes on until it is killed."""
        policy = str(self.folder / "policy.yaml")
        return self._started(
            [__file__, "--child", self.store, policy, name, str(count)], self.log(name)
        )

    def worker(self) -> subprocess.Popen[bytes]:
        """Start a worker."""
        return self._started(
            ["-m", "sureline", "worker", "--store", self.store], self.folder / "worker.log"
        )

    def log(self, name: str) -> Path:
        """Return where a gate writes down what was acknowledged to it."""
        return self.folder / f"{name}.log"

    def said(self) -> list[Line]:
        """Return what was written down; the last line of who was killed may be half a line."""
        found = []
        for name in GATES:
            for line in self.log(name).read_text(encoding="utf-8").splitlines():
                with suppress(ValueError):
                    found.append(json.loads(line))
        return found

    def wait_for_load(self) -> None:
        """Return once every gate has had its first answer."""
        for _ in range(600):
            if all(self.log(one).exists() and self.log(one).stat().st_size for one in GATES):
                return
            time.sleep(0.05)
        raise SystemExit("the load did not begin")

    def _started(self, arguments: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
        with log.open("ab") as out:
            return subprocess.Popen(
                [sys.executable, *arguments],
                stdout=out,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "FAULTS_SECRET": SECRET},
            )


def one_round(store: str, folder: Path, draw: random.Random) -> Round:
    """Load, kill, repeat everything, and look."""
    open_store(store).close()
    arena = Arena(store, folder)
    with Sink() as sink:
        arena.prepare(sink.url)
        running = {name: arena.gate(name) for name in GATES}
        arena.wait_for_load()
        running["worker"] = arena.worker()
        order = [*running]
        draw.shuffle(order)
        for name in order:
            time.sleep(draw.uniform(0.05, LONGEST / 2))
            _kill(running[name])
        second = arena.worker()
        _repeat(arena)
        time.sleep(draw.uniform(0.05, LONGEST / 2))
        _kill(second)
        last = arena.worker()
        said = arena.said()
        judged = {line[1] for line in said if line[0] == "judged"}
        _wait_until_told(sink, judged, last)
        _kill(last)
        found = asyncio.run(_looked(store, said))
        told = _told(sink, judged)
    return Round(killed=len(order) + 1, verdicts=len(judged), **told, **found)


def _kill(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGKILL)
    process.wait()


def _repeat(arena: Arena) -> None:
    """Send again what each gate was told, and what may have been under way."""
    counts = Counter(line[1].split("-")[0] for line in arena.said() if line[0] == "decided")
    for name in GATES:
        arena.gate(name, counts[name] + CALLERS).wait()


def _wait_until_told(sink: Sink, judged: set[str], worker: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and judged - sink.decisions():
        if worker.poll() is not None:
            raise SystemExit(f"the worker ended with {worker.returncode}")
        time.sleep(0.2)


def _told(sink: Sink, judged: set[str]) -> dict[str, int]:
    """Count verdicts of which nobody was told, and what was told again or otherwise."""
    events = sink.by_decision()
    return {
        "untold": len(judged - events.keys()),
        "again": sum(count > 1 for count in sink.events.values()),
        "differing": sum(len(ids) > 1 for ids in events.values())
        + sum(len(words) > 1 for words in sink.contents.values()),
    }


async def _looked(store: str, lines: list[Line]) -> dict[str, int | bool]:
    opened = open_store(store)
    decided: dict[str, set[str]] = {}
    for line in lines:
        if line[0] == "decided":
            decided.setdefault(line[1], set()).add(line[2])
    lost = 0
    for name, routes in decided.items():
        stored = await opened.ledger.decision("default", name)
        lost += stored is None or routes != {stored.route}
    released = Counter(line[1] for line in lines if line[0] == "released")
    chain = await opened.ledger.verify()
    derived = await opened.derived.compare()
    opened.close()
    return {
        "acknowledged": len(decided),
        "lost": lost,
        "released": len(released),
        "twice": sum(count > 1 for count in released.values()),
        "holds": chain.ok and all(one.ok for one in derived),
    }


FIELDS = (
    *("killed", "acknowledged", "lost", "released", "twice"),
    *("verdicts", "untold", "again", "differing"),
)
WRONG = ("lost", "twice", "untold", "differing")


def row(kind: str, found: Sequence[Round]) -> tuple[str, ...]:
    """Return a store's row of the table."""
    sums = [f"{sum(getattr(one, name) for one in found):,}" for name in FIELDS]
    holds = sum(one.holds for one in found)
    return TITLES[kind], str(len(found)), *sums, f"{holds} of {len(found)}"


def rounds(kind: str, count: int, seed: int) -> list[Round]:
    """Run the rounds on one store; the same seed kills at the same moments."""
    draw, found = random.Random(seed), []
    with tempfile.TemporaryDirectory() as name, stores(kind) as made:
        for number in range(count):
            folder = Path(name) / f"round{number}"
            folder.mkdir()
            store = made.fresh()
            found.append(one_round(store, folder, draw))
            made.drop(store)
    return found


def main() -> None:
    """Run the rounds and print the table; exit code 1 if anything was lost, doubled or broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="two rounds")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="write the page in docs/reference")
    add_store_option(parser, default="both")
    given = parser.parse_args()
    began, count = time.perf_counter(), 2 if given.quick else given.rounds
    results = {kind: rounds(kind, count, given.seed) for kind in chosen(given.store)}
    table = Section(
        title="Killed at random moments",
        note=f"SIGKILL within {LONGEST / 2:g} s of load each; two gates with {CALLERS} callers, "
        f"one of {TO_PEOPLE} outputs judged by a person, a worker that tells a webhook. Every "
        "count with a fault in its name must be 0: `lost`, `twice`, `untold`, "
        "`differing`. `again` counts events that were told more than once, under the same id.",
        heading=("store", "rounds", *FIELDS, "verify"),
        rows=tuple(row(kind, found) for kind, found in results.items()),
    )
    hand_out([table], as_json=given.json, seconds=time.perf_counter() - began)
    if given.write:
        write_page(table)
    every = [one for found in results.values() for one in found]
    wrong = any(getattr(one, name) for one in every for name in WRONG)
    raise SystemExit(1 if wrong or not all(one.holds for one in every) else 0)


def write_page(table: Section) -> None:
    """Write the page of the documentation."""
    about = (__doc__ or "").partition("\n\nRun:")[0].partition("\n\n")[2]
    write(
        "faults-benchmark.md",
        "Killed gates and workers, measured",
        "Written by `python benchmarks/faults.py --write`; what a store promises is explained in "
        f"[the ledger](../explanation/ledger.md).\n\n{about}",
        [table],
    )


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--child":
        asyncio.run(_child(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5])))
    else:
        main()
