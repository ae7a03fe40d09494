"""Kill a loaded gate at random points, on each store: is anything lost, doubled or broken?

Each round: two processes decide and use approvals at full speed, writing down what was acknowledged
to them; at a random moment one is killed with SIGKILL, at another the other. Then a new process
repeats every proposal and tries to use every approval again, and the store is verified:

* acknowledged = stored: every decision that was acknowledged is there, with the same answer;
* released at most once: no approval was granted to two callers;
* the chain verifies, and labels and counts are what the ledger says.

Run: python benchmarks/faults.py [--rounds 20] [--store sqlite|postgres|both]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from stores import add_store_option, chosen, stores

import sureline
from sureline.adapters.clock import SystemClock
from sureline.adapters.storage.store import open_store
from sureline.errors import SurelineError

CALLERS = 16
LONGEST = 3.0
"""Seconds of load within which a process is killed."""
POLICY = """
version: 1
slices:
  invoices:
    mode: route
    weights: {{verification: 1}}
    output: {{json_schema: {{type: object, required: [amount]}}}}
    hypothesis: {{auto: 0.85, allow_uncertified: true, starts: "{today}"}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What one round found."""

    acknowledged: int
    lost: int
    released: int
    twice: int
    holds: bool


async def _load(gate: sureline.Gate, name: str, numbers: Iterator[int]) -> None:
    """Decide and use approvals; write down each answer as soon as it is there."""
    for number in numbers:
        made = await gate.decide(
            id=f"{name}-{number}",
            task=f"Read invoice {name}-{number}",
            output={"amount": number},
            slice_key="invoices",
        )
        _write(["decided", made.id, made.route])
        if not made.approved:
            continue
        try:
            await gate.consume(made.id, output=made.output)
        except SurelineError:
            continue
        _write(["released", made.id])


def _write(line: list[str]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


async def _child(store: str, policy: str, name: str, count: int) -> None:
    numbers = itertools.count() if not count else iter(range(count))
    async with sureline.Gate.open(policy, store=store) as gate:
        await asyncio.gather(*(_load(gate, name, numbers) for _ in range(CALLERS)))


def _started(
    store: str, policy: Path, name: str, log: Path, count: int = 0
) -> subprocess.Popen[bytes]:
    with log.open("ab") as out:
        return subprocess.Popen(
            [sys.executable, __file__, "--child", store, str(policy), name, str(count)],
            stdout=out,
            stderr=subprocess.DEVNULL,
        )


def one_round(store: str, folder: Path, draw: random.Random) -> Round:
    """Load, kill twice, repeat everything, and look."""
    policy = folder / "policy.yaml"
    policy.write_text(POLICY.format(today=SystemClock().now().date()), encoding="utf-8")
    open_store(store).close()
    names = ("a", "b")
    logs = {name: folder / f"{name}.log" for name in names}
    running = {name: _started(store, policy, name, logs[name]) for name in names}
    _wait_for_load(logs)
    for name in names:
        time.sleep(draw.uniform(0.05, LONGEST / 2))
        running[name].send_signal(signal.SIGKILL)
        running[name].wait()
    said = {name: _lines(logs[name]) for name in names}
    for name in names:
        decided = [one for one in said[name] if one[0] == "decided"]
        _started(store, policy, name, logs[name], count=len(decided) + CALLERS).wait()
    return asyncio.run(_looked(store, [line for name in names for line in _lines(logs[name])]))


def _wait_for_load(logs: dict[str, Path]) -> None:
    """Return once every process has had its first answer."""
    for _ in range(600):
        if all(log.exists() and log.stat().st_size for log in logs.values()):
            return
        time.sleep(0.05)
    raise SystemExit("the load did not begin")


def _lines(log: Path) -> list[list[str]]:
    """Return what was written down; the last line may be half a line."""
    found = []
    for line in log.read_text(encoding="utf-8").splitlines():
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return found


async def _looked(store: str, lines: list[list[str]]) -> Round:
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
    return Round(
        acknowledged=len(decided),
        lost=lost,
        released=len(released),
        twice=sum(count > 1 for count in released.values()),
        holds=chain.ok and all(one.ok for one in derived),
    )


def main() -> None:
    """Run the rounds and print the table; exit code 1 if anything was lost, doubled or broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    add_store_option(parser, default="both")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="two rounds")
    options = parser.parse_args()
    table = Table("store", "rounds", "acknowledged", "lost", "released", "twice", "verify")
    wrong = False
    for kind in chosen(options.store):
        draw, found = random.Random(options.seed), []
        with tempfile.TemporaryDirectory() as name, stores(kind) as made:
            for number in range(2 if options.quick else options.rounds):
                folder = Path(name) / f"round{number}"
                folder.mkdir()
                found.append(one_round(made.fresh(), folder, draw))
        sums = [sum(getattr(one, field) for one in found) for field in ("acknowledged", "lost")]
        uses = [sum(getattr(one, field) for one in found) for field in ("released", "twice")]
        holds = sum(one.holds for one in found)
        table.add_row(kind, *map(str, (len(found), *sums, *uses)), f"{holds} of {len(found)}")
        wrong |= bool(sums[1] or uses[1] or holds < len(found))
    Console().print(table)
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--child":
        asyncio.run(_child(sys.argv[2], sys.argv[3], sys.argv[4], int(sys.argv[5])))
    else:
        main()
