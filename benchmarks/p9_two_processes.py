"""P9: two gate processes on one PostgreSQL against one, all traffic on one slice.

Each process decides through the library with 64 callers for some seconds; a decision counts once it
is acknowledged. One process and two take turns, and the median of the ratios is printed.

Run: python benchmarks/p9_two_processes.py [--quick] [--json]
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from figures import hand_out
from page import Section
from stores import stores

import sureline

CALLERS = 64
TARGET = 1.6
POLICY = """
version: 1
slices:
  invoices:
    weights: {verification: 1}
    output: {json_schema: {type: object, required: [amount]}}
"""


async def _child(store: str, policy: str, name: str, seconds: float) -> None:
    """Decide once told to; print how many decisions were acknowledged in time."""
    numbers, done = itertools.count(), 0
    async with sureline.Gate.open(policy, store=store) as gate:

        async def call() -> None:
            nonlocal done
            while time.monotonic() < end:
                number = next(numbers)
                await gate.decide(
                    task=f"Read invoice {name}-{number}",
                    output={"amount": number},
                    slice_key="invoices",
                )
                done += time.monotonic() < end

        await gate.decide(task=f"first of {name}", output={"amount": 0}, slice_key="invoices")
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.readline)
        end = time.monotonic() + seconds
        await asyncio.gather(*(call() for _ in range(CALLERS)))
    sys.stdout.write(f"{done}\n")


def rate(store: str, policy: Path, processes: int, seconds: float) -> float:
    """Return the acknowledged decisions per second of all processes together."""
    running = [
        subprocess.Popen(
            [sys.executable, __file__, "--child", store, str(policy), f"p{number}", str(seconds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(processes)
    ]
    for one in running:
        assert one.stdout is not None
        assert one.stdout.readline() == "ready\n"
    for one in running:
        assert one.stdin is not None
        one.stdin.write("go\n")
        one.stdin.flush()
    return sum(int(one.communicate()[0]) for one in running) / seconds


def main() -> None:
    """Measure in turns and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rounds, seconds = (1, 3.0) if given.quick else (5, 8.0)
    rounds = given.rounds or rounds
    began, pairs = time.monotonic(), []
    with tempfile.TemporaryDirectory() as name, stores("postgres") as made:
        policy = Path(name) / "policy.yaml"
        policy.write_text(POLICY, encoding="utf-8")
        for _ in range(rounds):
            one = rate(made.fresh(), policy, 1, seconds)
            two = rate(made.fresh(), policy, 2, seconds)
            pairs.append((one, two))
    ratio = statistics.median(two / one for one, two in pairs)
    table = Section(
        title="P9: two gate processes on one PostgreSQL, beside one",
        note=f"{CALLERS} callers in each process, all on one slice, {seconds:g} s a run, median of "
        f"{rounds} rounds. The server runs on the same {os.cpu_count()} cores.",
        heading=("one process/s", "two processes/s", "ratio", "target"),
        rows=(
            (
                *(f"{statistics.median(one):,.0f}" for one in zip(*pairs, strict=True)),
                f"{ratio:.2f}",
                f">= {TARGET}",
            ),
        ),
    )
    hand_out([table], as_json=given.json, seconds=time.monotonic() - began)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        asyncio.run(_child(*sys.argv[2:5], float(sys.argv[5])))
    else:
        main()
