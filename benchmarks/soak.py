"""A soak: minutes at half of the peak, over HTTP; do memory, files and logs stay as they are?

A server decides, approvals are used, a share goes to people, who work it off, and every verdict is
told to a webhook; sweeps, jobs and deliveries run beside it, as in production. The peak of the same
mixture is measured first. Then memory, open files and threads of the process are looked at every
two seconds, and so is what the store keeps beside its tables.

The rule: after a warm-up of a fifth, memory is averaged over twenty equal stretches and a line is
laid through them. It is *flat* if the upper end of the slope's 95 % interval is below one smallest
Python object (56 bytes) for each decision that is made; it *grows* if the lower end is above 0 and
the upper one is not below that; otherwise nothing can be said, and a longer run is needed. Nothing
is said of less than five minutes either: what grows first is the cache of pages that SQLite fills,
32 MB for each connection, and windows of past cases up to their size.

Run: python benchmarks/soak.py [--minutes 10] [--store sqlite|postgres|both] [--json] [--write]
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from figures import hand_out
from filled_store import proposal as invoice
from http_load import Load, Tally
from page import Section, write
from proc import Held, look_at
from scipy.stats import linregress
from scipy.stats import t as student
from served import Served, make_keys, serving
from sink import Sink
from stores import TITLES, Databases, Stores, add_store_option, chosen, file_of, stores

from sureline.adapters.clock import SystemClock
from sureline.application.ports.keys import Role

OBJECT = 56
"""Bytes of the smallest Python object with a dictionary slot: a leak is at least one a decision."""
EVERY = 2.0
LEAST_MINUTES = 4.9
STRETCHES = 20
TO_PEOPLE = 25
"""One of so many outputs goes to people, and is compared with past ones."""
POLICY = """\
version: 1
notifications:
  allow_private: [127.0.0.1]
  channels:
    - {{name: agents, kind: webhook, url: "{url}", secret_from: SOAK_SECRET,
        at_most_per_minute: 6000, events: [decided, expired]}}
slices:
  invoices:
    mode: route
    weights: {{verification: 1}}
    output:
      json_schema: {{type: object, required: [vendor, total, currency]}}
    grounding: {{fields: [vendor]}}
    hypothesis: {{auto: 0.5, allow_uncertified: true, starts: "{today}"}}
  letters:
    mode: route
    weights: {{verification: 0.5, history: 0.5}}
    history: {{window: 500}}
    output:
      json_schema: {{type: object, required: [vendor, total, currency]}}
    review: {{undo_seconds: 1, honeypots: 0, double_review: 0}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One look at the server and at what the store keeps beside its tables, in bytes."""

    held: Held
    log: int
    dead_rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """What memory did after the warm-up, in bytes an hour, with the 95 % interval."""

    slope: float
    low: float
    high: float
    limit: float
    minutes: float

    @property
    def verdict(self) -> str:
        if self.minutes < LEAST_MINUTES:
            return "too short to say"
        if self.high < self.limit:
            return "flat"
        return "grows" if self.low > 0 else "cannot be said"


@dataclass(frozen=True, slots=True, kw_only=True)
class Soaked:
    """One store's run."""

    kind: str
    peak: float
    rate: float
    tally: Tally
    looks: Sequence[Look]
    told: int
    decided: float
    grown: int


def proposal(number: int) -> dict[str, Any]:
    """Return an invoice; one of 25 goes to people, in a slice that looks for similar cases."""
    if number % TO_PEOPLE:
        return invoice(number)
    return {**invoice(number), "slice_key": "letters", "force_human": True}


def trend(looks: Sequence[Look], per_second: float) -> Trend:
    """Lay a line through the memory after the warm-up."""
    kept = looks[len(looks) // 5 :]
    size = max(1, len(kept) // STRETCHES)
    parts = [kept[at : at + size] for at in range(0, len(kept) - size + 1, size)]
    hours = [statistics.fmean(one.held.at for one in part) / 3600 for part in parts]
    memory = [statistics.fmean(one.held.resident for one in part) for part in parts]
    line = linregress(hours, memory)
    half = float(student.ppf(0.975, len(parts) - 2)) * float(line.stderr)
    slope = float(line.slope)
    return Trend(
        slope=slope,
        low=slope - half,
        high=slope + half,
        limit=OBJECT * per_second * 3600,
        minutes=(looks[-1].held.at - looks[0].held.at) / 60,
    )


def look(made: Stores, store: str, pid: int) -> Look:
    """Look at the process, the log and the dead rows."""
    if not isinstance(made, Databases):
        log = file_of(store).with_name(file_of(store).name + "-wal")
        return Look(held=look_at(pid), log=log.stat().st_size if log.exists() else 0, dead_rows=0)
    with psycopg.connect(store, autocommit=True) as connection:
        row = connection.execute(
            "SELECT (SELECT coalesce(sum(size), 0) FROM pg_ls_waldir()), "
            "(SELECT coalesce(sum(n_dead_tup), 0) FROM pg_stat_user_tables)"
        ).fetchone()
    assert row is not None
    return Look(held=look_at(pid), log=int(row[0]), dead_rows=int(row[1]))


async def watched(
    made: Stores, store: str, served: Served, load: asyncio.Task[Tally]
) -> list[Look]:
    """Look every two seconds until the load is over."""
    looks = []
    while not load.done():
        looks.append(await asyncio.to_thread(look, made, store, served.process.pid))
        await asyncio.wait({load}, timeout=EVERY)
    return looks


async def loaded(
    made: Stores, store: str, served: Served, load: Load, minutes: float
) -> tuple[float, float, Tally, list[Look]]:
    """Find the peak, then load with half of it; return peak, rate, what came, and the looks."""
    seconds = min(20.0, 15 * minutes)
    await load.run(seconds / 4, per_second=None, first=10_000_000)
    most = await load.run(seconds, per_second=None, first=20_000_000)
    peak = most.counts.get("decided", 0) / seconds
    half = load.run(60 * minutes, per_second=peak / 2, first=0)
    running = asyncio.ensure_future(half)
    looks = await watched(made, store, served, running)
    return peak, peak / 2, await running, looks


def soak(made: Stores, minutes: float) -> Soaked:
    """Soak one store."""
    store = made.fresh()
    secret = "whsec_" + base64.b64encode(os.urandom(24)).decode()
    with tempfile.TemporaryDirectory() as name, Sink() as sink:
        folder = Path(name)
        policy = folder / "policy.yaml"
        policy.write_text(POLICY.format(url=sink.url, today=SystemClock().now().date()))
        keys = make_keys(store)
        before = made.size(store)
        with serving(store, policy, folder / "log", {"SOAK_SECRET": secret}) as served:
            load = Load(
                port=served.port,
                agent=keys[Role.AGENT],
                reviewer=keys[Role.REVIEWER],
                proposal=proposal,
            )
            peak, rate, tally, looks = asyncio.run(loaded(made, store, served, load, minutes))
            time.sleep(3)  # what is under way is delivered
        errors = (folder / "log").read_text().count("ERROR")
        if errors:
            tally.counts["lines of ERROR in the log"] = errors
        told = len(sink.events)
    return Soaked(
        kind=made.kind,
        peak=peak,
        rate=rate,
        tally=tally,
        looks=looks,
        told=told,
        decided=tally.counts.get("decided", 0) / (60 * minutes),
        grown=made.size(store) - before,
    )


def held(one: Soaked) -> Section:
    """Show what was held, minute by minute."""
    start = one.looks[0].held.at
    rows = []
    for minute in sorted(one.tally.by_minute):
        looks = [a for a in one.looks if int((a.held.at - start) // 60) == minute]
        if len(looks) < 3:
            continue
        last = looks[-1]
        times = sorted(one.tally.by_minute[minute])
        p50, p99 = times[len(times) // 2], times[int(0.99 * len(times))]
        used = last.held.processor - looks[0].held.processor
        rows.append(
            (
                str(minute + 1),
                f"{len(times):,}",
                f"{p50:.1f}",
                f"{p99:.1f}",
                f"{statistics.fmean(a.held.resident for a in looks) / 1e6:.1f}",
                str(last.held.files),
                str(last.held.threads),
                f"{used / max(1e-9, last.held.at - looks[0].held.at):.2f}",
                f"{max(a.log for a in looks) / 1e6:.1f}",
                f"{last.dead_rows:,}",
            )
        )
    heading = (
        *("minute", "decisions", "p50, ms", "p99, ms", "memory, MB", "files", "threads"),
        *("processors", "log at most, MB", "dead rows"),
    )
    return Section(
        title=f"{TITLES[one.kind]}, minute by minute",
        note=f"{one.rate:.0f} decisions a second were asked for, half of a peak of {one.peak:.0f}; "
        "the log is SQLite's write-ahead log, or PostgreSQL's pg_wal of the whole server.",
        heading=heading,
        rows=tuple(rows),
    )


def summary(found: Sequence[Soaked]) -> Section:
    """Show the verdicts."""
    rows = []
    for one in found:
        told = trend(one.looks, one.decided)
        first, last = one.looks[len(one.looks) // 5].held, one.looks[-1].held
        others = {k: v for k, v in one.tally.counts.items() if "refused" in k or "broken" in k}
        others |= {k: v for k, v in one.tally.counts.items() if "ERROR" in k}
        counts = one.tally.counts
        rows.append(
            (
                TITLES[one.kind],
                told.verdict,
                f"{told.slope / 1e6:+.1f} [{told.low / 1e6:+.1f}, {told.high / 1e6:+.1f}]",
                f"{told.limit / 1e6:.1f}",
                f"{last.files - first.files:+d}",
                f"{last.threads - first.threads:+d}",
                *(f"{counts.get(name, 0):,}" for name in ("decided", "used", "reviewed")),
                f"{one.told:,}",
                ", ".join(f"{v} {k}" for k, v in others.items()) or "none",
            )
        )
    return Section(
        title="Is it flat?",
        note="Memory: the slope after the warm-up with its 95 % interval, and the limit of "
        f"{OBJECT} bytes a decision. Files and threads: from the end of the warm-up to the end. "
        "Told: different events that reached the webhook.",
        heading=(
            *("store", "memory", "MB an hour", "limit", "files", "threads"),
            *("decided", "used", "reviewed", "told", "failed"),
        ),
        rows=tuple(rows),
    )


def main() -> None:
    """Soak the stores in turn and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--quick", action="store_true", help="one minute")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--write", action="store_true", help="write the page in docs/reference")
    add_store_option(parser, default="both")
    given = parser.parse_args()
    began, found = time.perf_counter(), []
    for kind in chosen(given.store):
        with stores(kind) as made:
            found.append(soak(made, 1.0 if given.quick else given.minutes))
    sections = [summary(found), *(held(one) for one in found)]
    hand_out(sections, as_json=given.json, seconds=time.perf_counter() - began)
    if given.write:
        about = " ".join((__doc__ or "").split("Run:")[0].split("\n\n", 1)[1].split())
        write(
            "soak-benchmark.md",
            "A soak, measured",
            f"Written by `python benchmarks/soak.py --write` on {os.cpu_count()} processor cores, "
            f"which server, database, load and receiver share.\n\n{about}",
            sections,
        )


if __name__ == "__main__":
    main()
