"""P7: how long recalibrating takes with ten million decisions in the store.

A synthetic log is written as CSV, brought in by `sureline import`, as anybody's log would be, and
recalibrated by `sureline recalibrate` in processes of their own, then again and again in one. All
decisions are in one slice and labelled, the hardest case for the certificate. Target: 2 seconds.

Run: python benchmarks/p7_recalibrate.py [--store sqlite|postgres|both] [--quick] [--json]
[--decisions 10000000] [--runs 5] [--folder DIR]
(ten million need about 30 GB in the folder and half an hour on an idle machine, on each store)
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
from figures import hand_out
from page import Section
from stores import TITLES, Stores, add_store_option, chosen, stores

from sureline.adapters.clock import SystemClock
from sureline.bootstrap import open_services
from sureline.core.statistics.critical import critical_values

QUICK, FULL = 200_000, 10_000_000
TARGET_SECONDS = 2.0
DAYS = 80
"""Over how many days the log goes, up to now: all of it inside the policy's window."""
PART = 500_000
POLICY = """\
version: 1
slices:
  invoices:
    mode: log_only
    weights: {verification: 0.7, self_report: 0.3}
"""
IMPORT = (
    "import", "log.csv", "--policy", "policy.yaml", "--slice", "invoices",
    "--map", "signal.verification=checks", "--map", "signal.self_report=claim",
    "--map", "at=at", "--map", "label=correct", "--label-source", "human", "--labelled", "all",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One process: wall-clock and processor seconds, and its most memory in MB."""

    seconds: float
    processor: float
    megabytes: float


def write_log(path: Path, decisions: int) -> None:
    """Write outputs whose chance to be right is their composite, in order of time."""
    draw = np.random.default_rng(7)
    start = SystemClock().now() - timedelta(days=DAYS)
    step = timedelta(days=DAYS - 1).total_seconds() / decisions
    with path.open("w", encoding="ascii") as file:
        file.write("at,checks,claim,correct\n")
        for first in range(0, decisions, PART):
            size = min(PART, decisions - first)
            checks, claim = draw.beta(6, 1, size), draw.beta(6, 1, size)
            right = draw.random(size) < 0.7 * checks + 0.3 * claim
            for row in range(size):
                at = start + timedelta(seconds=int((first + row) * step))
                moment = at.isoformat(timespec="seconds")
                file.write(f"{moment},{checks[row]:.4f},{claim[row]:.3f},{right[row]:d}\n")


def sureline(folder: Path, store: str, *arguments: str) -> Run:
    """Run the command line on a store in a process of its own."""
    program = str(Path(sys.executable).with_name("sureline"))
    start = perf_counter()
    process = os.posix_spawn(
        "/bin/sh",
        ["sh", "-c", 'cd "$0" && exec "$@" > out.txt', str(folder), program, *arguments],
        {**os.environ, "SURELINE_STORE": store},
    )
    _, status, usage = os.wait4(process, 0)
    seconds = perf_counter() - start
    if status:
        raise SystemExit(f"sureline {arguments[0]} ended with status {status}")
    return Run(
        seconds=seconds,
        processor=usage.ru_utime + usage.ru_stime,
        megabytes=usage.ru_maxrss / 1024,
    )


async def in_one_process(store: str, runs: int) -> tuple[float, list[float]]:
    """Return the seconds of the first recalibration of a process, and those of later ones."""
    times = []
    async with open_services(store) as services:
        critical_values.cache_clear()
        for _ in range(runs + 1):
            start = perf_counter()
            await services.recalibrator.recalibrate()
            times.append(perf_counter() - start)
    return times[0], times[1:]


def measure(made: Stores, folder: Path, decisions: int, runs: int) -> Section:
    """Build a store and return the figures; progress is printed beside them."""
    store = made.fresh()
    start = perf_counter()
    write_log(folder / "log.csv", decisions)
    (folder / "policy.yaml").write_text(POLICY)
    progress(f"P7 log of {decisions:,} decisions written in {perf_counter() - start:.0f} s")
    taken = sureline(folder, store, *IMPORT)
    progress(f"P7 import into {TITLES[made.kind]}: {taken.seconds:.0f} s")
    command = [sureline(folder, store, "recalibrate") for _ in range(runs)]
    first, later = asyncio.run(in_one_process(store, runs))
    whole = median([run.seconds for run in command])
    rows = (
        ("import, rows/s", f"{decisions / taken.seconds:,.0f}", ""),
        ("import, rows per processor second", f"{decisions / taken.processor:,.0f}", ""),
        ("import, most memory, MB", f"{taken.megabytes:.0f}", ""),
        ("store, GB", f"{made.size(store) / 1e9:.2f}", ""),
        ("recalibrate, whole process, s", f"{whole:.2f}", f"<= {TARGET_SECONDS:g} with {FULL:,}"),
        ("of it processor, s", f"{median([run.processor for run in command]):.2f}", ""),
        ("most memory, MB", f"{max(run.megabytes for run in command):.0f}", ""),
        ("in a process that runs, first, s", f"{first:.2f}", ""),
        ("in a process that runs, later, s", f"{median(later):.2f}", ""),
    )
    return Section(
        title=f"P7 on {TITLES[made.kind]}: recalibrate with {decisions:,} decisions in the store",
        note=f"One slice, all labelled, {DAYS} days; median of {runs} runs.",
        heading=("what", "measured", "target"),
        rows=rows,
    )


def progress(said: str) -> None:
    """Say how far it is, beside the figures."""
    print(said, file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure in a folder that is removed afterwards."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} decisions")
    parser.add_argument("--decisions", type=int)
    parser.add_argument("--folder", type=Path, help="where to work (default: the system's)")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    add_store_option(parser)
    options = parser.parse_args(arguments)
    decisions = options.decisions or (QUICK if options.quick else FULL)
    began, found = perf_counter(), []
    for kind in chosen(options.store):
        with (
            tempfile.TemporaryDirectory(prefix="sureline-p7-", dir=options.folder) as name,
            stores(kind, options.folder) as made,
        ):
            found.append(measure(made, Path(name), decisions, options.runs))
    hand_out(found, as_json=options.json, seconds=perf_counter() - began)


if __name__ == "__main__":
    main()
