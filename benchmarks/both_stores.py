"""P1, P2, P7, P8 and P9 on SQLite and PostgreSQL in turn, beside bare inserts, as one page.

One command for all figures of the two stores. Each benchmark runs in a process of its own; what it
prints is gathered into docs/reference/two-stores-benchmark.md with `--write`. On two quiet
processor cores it takes about 12 minutes, with `--quick` about 5, with `--full` (ten million
decisions for P7, a million items for P8, three rounds) some hours and 40 GB.

Run: python benchmarks/both_stores.py [--quick | --full] [--store both] [--only p1 p8] [--write]
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from figures import sections_of
from page import Section, show, write
from stores import add_store_option


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One benchmark with its arguments for each form of the run."""

    name: str
    file: str
    quick: tuple[str, ...] = ("--quick",)
    usual: tuple[str, ...] = ()
    full: tuple[str, ...] = ()
    takes_store: bool = True


PARTS = (
    Part(name="raw", file="raw_insert.py"),
    Part(name="p1", file="p1_decide.py", usual=("--rounds", "1")),
    Part(name="p2", file="p2_http.py", usual=("--rounds", "1")),
    Part(
        name="p7",
        file="p7_recalibrate.py",
        quick=("--decisions", "50000", "--runs", "3"),
        usual=("--decisions", "200000"),
    ),
    Part(
        name="p8",
        file="p8_queue.py",
        quick=("--items", "50000", "--repeat", "40"),
        usual=("--items", "200000", "--repeat", "100"),
    ),
    Part(name="p9", file="p9_two_processes.py", usual=("--rounds", "3"), takes_store=False),
)
ABOUT = """\
Written by `python benchmarks/both_stores.py --write` on {machine}, which the server, the database
and the load share; PostgreSQL runs with its defaults, with `fsync` and `synchronous_commit` on. So
the figures say how the two stores compare and how each stands to bare inserts of the same rows on
the same disk, not what a server of its own would reach. What they mean for larger loads is worked
out in [scale](../explanation/scale.md)."""


def run(part: Part, form: str, store: str) -> list[Section]:
    """Run one benchmark and return its tables. Raises SystemExit if it fails."""
    chosen: Sequence[str] = getattr(part, form)
    arguments = [*chosen, *(("--store", store) if part.takes_store else ())]
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name(part.file)), "--json", *arguments],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{part.file} ended with {done.returncode}:\n{done.stdout}")
    sections = sections_of(done.stdout)
    show(sections, time.perf_counter() - began)
    return sections


def machine() -> str:
    """Say what machine this is."""
    versions = f"Python {platform.python_version()}"
    return f"{os.cpu_count()} processor cores ({platform.machine()}), {versions}"


def main() -> None:
    """Run all parts in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--quick", action="store_const", const="quick", dest="form")
    form.add_argument("--full", action="store_const", const="full", dest="form")
    names = [part.name for part in PARTS]
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--write", action="store_true", help="write the page in docs/reference")
    add_store_option(parser, default="both")
    given = parser.parse_args()
    began, sections = time.perf_counter(), []
    for part in PARTS:
        if part.name in given.only:
            print(f"== {part.file}, load {os.getloadavg()[0]:.1f}", flush=True)
            sections += run(part, given.form or "usual", given.store)
    print(f"all of it: {(time.perf_counter() - began) / 60:.1f} minutes")
    if given.write:
        about = ABOUT.format(machine=machine())
        write("two-stores-benchmark.md", "The two stores, measured", about, sections)


if __name__ == "__main__":
    main()
