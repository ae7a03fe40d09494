"""What a decision costs on a store, measured: the constants of the scale table."""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psycopg
from http_load import Load
from proc import children_of, look_at
from served import make_keys, serving
from stores import Databases, Stores

import sureline
from sureline.adapters.storage.group_commit import GroupCommit
from sureline.adapters.storage.postgres_commit import PostgresCommit
from sureline.adapters.storage.store import open_store
from sureline.application.ports.keys import Role
from sureline.demo.items import bundled

WEIGHTS = "weights: {verification: 0.5, arithmetic: 0.3, history: 0.2}"
CHECKS, HISTORY = "{verification: 1}", "{verification: 0.8, history: 0.2}"
VARIANTS = {
    "alone": (False, CHECKS),
    "alone, with a vector": (False, HISTORY),
    "to a person": (True, CHECKS),
}
"""How receipts are decided on: whether an item of the queue is opened, and the weights."""
CALLERS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Commits:
    """What a transaction takes in seconds, whatever is in it, and what each decision adds."""

    fixed: float
    each: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Constants:
    """One store's constants; times are seconds a decision unless said otherwise."""

    kind: str
    library: float
    """Processor time of a gate process through the library."""
    http: float
    """The same of `sureline serve`, over HTTP."""
    server: float
    """Processor time of the database's own processes."""
    log: float
    """Bytes of log a decision: PostgreSQL's WAL; 0 where it is not told apart."""
    plain: Commits
    """Transactions of decisions that open no item of the queue."""
    opening: Commits
    """Transactions of those that do; on PostgreSQL under the one lock."""
    verify: float
    """To verify a row, one core."""
    connections: int
    """Connections of a gate process that is busy."""
    flush: float
    """Seconds of one flush of 8 kB to this disk."""


def policy_file(folder: Path, variant: str) -> Path:
    """Write the demonstration's policy for a variant."""
    path = folder / f"{variant}.yaml"
    text = bundled(size=1).policy.replace(WEIGHTS, f"weights: {VARIANTS[variant][1]}")
    path.write_text(text, encoding="utf-8")
    return path


def open_gate(store: str, folder: Path, variant: str) -> sureline.Gate:
    """Open a gate for a variant; what acts alone and is not drawn for an audit opens no item."""
    gate = sureline.Gate.open(policy_file(folder, variant), store=store)
    queues = VARIANTS[variant][0]
    gate.services = replace(gate.services, decider=replace(gate.services.decider, queues=queues))
    return gate


def receipts(count: int, first: str) -> list[dict[str, Any]]:
    """Return proposals about receipts, as the demonstration makes them."""
    return [
        {
            "id": f"{first}-{number}",
            "slice_key": item.slice_key,
            "task": f"{item.task} Receipt {first} {number}",
            "output": item.output,
            "source": item.source,
        }
        for number, item in enumerate(bundled(size=count).items)
    ]


@dataclass(slots=True)
class Timed:
    """How long transactions took: (decisions, whether under the lock, seconds)."""

    taken: list[tuple[int, bool, float]] = field(default_factory=list)

    def usual(self) -> tuple[float, float]:
        """Return how many decisions a transaction had and its seconds: the medians."""
        counts, _, seconds = zip(*self.taken, strict=True)
        return statistics.median(counts), statistics.median(seconds)


@contextmanager
def timed() -> Iterator[Timed]:
    """Time every transaction of this process."""
    told, kept = Timed(), {}
    for owner in (GroupCommit, PostgresCommit):
        kept[owner] = owner._commit
        setattr(owner, "_commit", _timing(owner._commit, told))  # noqa: B010 - mypy sees a method
    try:
        yield told
    finally:
        for owner, usual in kept.items():
            owner._commit = usual


def _timing(usual: Callable[..., Any], told: Timed) -> Callable[..., Any]:
    def commit(self: Any, jobs: Any, **given: Any) -> Any:
        start = time.perf_counter()
        found = usual(self, jobs, **given)
        told.taken.append((len(found), given.get("locked", True), time.perf_counter() - start))
        return found

    return commit


async def decide_all(gate: sureline.Gate, proposals: list[dict[str, Any]], callers: int) -> None:
    """Decide on all proposals from some callers."""
    waiting = iter(proposals)

    async def call() -> None:
        for one in waiting:
            await gate.decide(**one)

    await asyncio.gather(*(call() for _ in range(callers)))


async def commits(store: str, folder: Path, variant: str, count: int) -> Commits:
    """Time transactions of one decision and of many."""
    async with open_gate(store, folder, variant) as gate:
        await decide_all(gate, receipts(100, "warm"), CALLERS)
        with timed() as alone:
            await decide_all(gate, receipts(count // 8, "alone"), 1)
        with timed() as together:
            await decide_all(gate, receipts(count, "together"), CALLERS)
    one, (many, seconds) = alone.usual()[1], together.usual()
    each = max(0.0, (seconds - one) / max(1.0, many - 1))
    return Commits(fixed=max(0.0, one - each), each=each)


def in_library(made: Stores, folder: Path, count: int) -> tuple[float, float, float, int]:
    """Return this process's and the server's seconds, bytes of log, and connections."""
    store = made.fresh()

    async def run() -> tuple[float, float, float, int]:
        async with open_gate(store, folder, "alone") as gate:
            await decide_all(gate, receipts(200, "warm"), CALLERS)
            proposals = receipts(count, "count")
            before = time.process_time(), server_seconds(made), log_bytes(made)
            await decide_all(gate, proposals, CALLERS)
            after = time.process_time(), server_seconds(made), log_bytes(made)
            own, server, log = ((b - a) / count for a, b in zip(before, after, strict=True))
            return own, server, log, connections(store)

    found = asyncio.run(run())
    made.drop(store)
    return found


def over_http(made: Stores, policy: Path, seconds: float) -> float:
    """Return the processor seconds a decision of a server under load."""
    store = made.fresh()
    keys, given = make_keys(store), receipts(1000, "any")

    def proposal(number: int) -> Mapping[str, Any]:
        one = given[number % len(given)]
        return {**one, "id": f"load-{number}", "task": f"{one['task']} {number}"}

    with serving(store, policy, policy.with_name("log"), {}) as served:
        load = Load(
            port=served.port,
            agent=keys[Role.AGENT],
            reviewer=keys[Role.REVIEWER],
            proposal=proposal,
            reviewers=0,
        )
        asyncio.run(load.run(seconds / 4, per_second=None, first=10**6))
        before = look_at(served.process.pid).processor
        told = asyncio.run(load.run(seconds, per_second=None, first=0))
        used = look_at(served.process.pid).processor - before
    made.drop(store)
    return used / told.counts["decided"]


def server_seconds(made: Stores) -> float:
    """Return the processor seconds of the database's processes so far; 0 for a file."""
    if not isinstance(made, Databases):
        return 0.0
    return sum(look_at(pid).processor for pid in children_of(made.pid))


def log_bytes(made: Stores) -> float:
    """Return how many bytes of log a server has written so far; 0 for a file."""
    if not isinstance(made, Databases):
        return 0.0
    return float(_one(made.url, "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')"))


def connections(store: str) -> int:
    """Return how many connections there are to a database; 0 for a file."""
    if not store.startswith("postgres"):
        return 0
    query = "SELECT count(*) - 1 FROM pg_stat_activity WHERE datname = current_database()"
    return int(_one(store, query))


def _one(url: str, query: str) -> Any:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(query.encode()).fetchone()
    assert row is not None
    return row[0]


def verify_seconds(made: Stores, folder: Path, count: int) -> float:
    """Return the processor seconds, here and in the server, to verify a row."""
    store = made.fresh()

    async def fill() -> None:
        async with open_gate(store, folder, "alone") as gate:
            await decide_all(gate, receipts(count, "verify"), CALLERS)

    asyncio.run(fill())
    opened = open_store(store)
    before = time.process_time() + server_seconds(made)
    report = asyncio.run(opened.ledger.verify())
    after = time.process_time() + server_seconds(made)
    opened.close()
    made.drop(store)
    assert report.ok
    return (after - before) / count


def flush_seconds() -> float:
    """Return the median seconds of writing and flushing 8 kB on the disk of temporary files."""
    taken = []
    with tempfile.TemporaryFile() as file:
        for _ in range(200):
            file.write(bytes(8192))
            file.flush()
            start = time.perf_counter()
            os.fdatasync(file.fileno())
            taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def constants(made: Stores, count: int, seconds: float) -> Constants:
    """Measure all constants of a store; `count` decisions for each, `seconds` over HTTP."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        library, server, log, lines = in_library(made, folder, count)
        plain = asyncio.run(commits(made.fresh(), folder, "alone", count))
        opening = asyncio.run(commits(made.fresh(), folder, "to a person", count))
        http = over_http(made, policy_file(folder, "to a person"), seconds)
        verify = verify_seconds(made, folder, count)
    return Constants(
        kind=made.kind,
        library=library,
        http=http,
        server=server,
        log=log,
        plain=plain,
        opening=opening,
        verify=verify,
        connections=lines,
        flush=flush_seconds(),
    )
