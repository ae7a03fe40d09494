"""Erase one subject among very many decisions: is it gone, and does everything else stay?

Decisions about many subjects are written, each with a marker of its subject in its payload, one in
a hundred of them about the one who goes; all are labelled. Then the one is erased while somebody
decides all the time. Looked for is the marker: in every table, in the files of the store (SQLite),
and in the logical export with payloads, which is what a backup of that kind holds. Compared are
labels and counts, on which certificates rest, and the chain is verified.

Run: python benchmarks/erase_subject.py [--quick] [--store sqlite|postgres|both] [--decisions N]
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.table import Table
from sqlalchemy import select
from stores import TITLES, add_store_option, chosen, file_of, stores

from sureline.adapters.clock import SystemClock
from sureline.adapters.storage.count_tables import label_counts, labels
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.store import Store, open_store
from sureline.adapters.storage.tables import metadata
from sureline.application.erasure import SubjectEraser
from sureline.application.identify import subject_key
from sureline.application.ports.ledger import DecisionRecord
from sureline.core.canonical import json_bytes
from sureline.core.values.outcome import Action, Outcome, OutcomeSource
from sureline.core.values.stratum import Fold, Stratum

DECISIONS, QUICK = 100_000, 2_000
SHARE = 100
"""One in so many decisions is about the subject that goes."""
SUBJECT = "customer-0"
MARK = "MARK-customer-0-END"
BATCH = 2_000
COUNTED = (labels, label_counts)
"""What certificates rest on; the other counts go on with those who decide meanwhile."""
NOW = datetime(2026, 11, 30, tzinfo=UTC)
STRATUM = Stratum(attempt=1, propensity=1.0, representative=True, judged=False, fold=Fold.HOLD)


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one run found; marker figures are before and after, seconds are wall-clock."""

    decisions: int
    erased: int
    in_tables: tuple[int, int]
    in_files: tuple[int, int] | None
    in_export: tuple[int, int]
    holds: bool
    unchanged: bool
    seconds: float
    longest_usual: float
    longest_wait: float

    @property
    def ok(self) -> bool:
        """Tell whether the marker is gone, the chain holds and nothing else changed."""
        files = self.in_files is None or self.in_files[1] == 0
        gone = self.in_tables[1] == self.in_export[1] == 0 and files
        return gone and self.holds and self.unchanged


def occurrences(store: Store) -> int:
    """Return in how many fields of all tables the marker stands."""
    sought = MARK.encode()
    with store.database.snapshot() as each:
        return sum(
            sought in (bytes(value) if isinstance(value, (bytes, memoryview)) else value.encode())
            for table in metadata.tables.values()
            for row in each(compiled(select(*table.columns)), ())
            for value in row
            if isinstance(value, (bytes, memoryview, str))
        )


def in_files(url: str) -> int | None:
    """Return how often the marker stands in the files of a store on SQLite, None elsewhere."""
    if not url.startswith("sqlite:///"):
        return None
    file = file_of(url)
    paths = [one for one in (file, Path(f"{file}-wal")) if one.exists()]
    return sum(path.read_bytes().count(MARK.encode()) for path in paths)


def in_export(store: Store) -> int:
    """Return how many lines of an export with payloads quote the marker."""
    quoted = (MARK, MARK.encode().hex())
    return sum(any(one in line for one in quoted) for line in store.ledger.export(payloads=True))


def statistics(store: Store) -> list[list[Any]]:
    """Return all labels and counts."""
    return [sorted(store.database.fetch(compiled(select(*table.columns)))) for table in COUNTED]


async def fill(store: Store, decisions: int) -> None:
    """Write labelled decisions about many subjects."""
    for first in range(0, decisions, BATCH):
        numbers = range(first, min(first + BATCH, decisions))
        records = [_record(store.secret, number) for number in numbers]
        await asyncio.gather(*(store.ledger.append(record) for record in records))
        await asyncio.gather(
            *(store.ledger.record_outcome(_outcome(record.id)) for record in records)
        )


def _record(secret: bytes, number: int) -> DecisionRecord:
    mine = number % SHARE == 0
    mark = MARK if mine else f"somebody {number}"
    return DecisionRecord(
        id=f"d{number}",
        workspace="default",
        slice_key="letters",
        route="human_review",
        would_route=None,
        mode="log_only",
        score=0.5,
        score_bin=5000 + number % 500,
        audit=False,
        failed=False,
        submitted_by=None,
        propensity=1.0,
        attempt=1,
        stratum=STRATUM,
        policy_hash="p",
        measurement_hash="m",
        batch_id=None,
        content_digest=b"c" * 32,
        task_digest=number.to_bytes(32, "big"),
        created_at=NOW,
        body=b"{}",
        answer=json_bytes({"output": {"vendor": mark}, "feedback": []}),
        request=json_bytes({"task": f"Read the letter of {mark}", "subject": mark}),
        vector=number.to_bytes(4, "big") * 256,
        model_id="hashing/1",
        subject=subject_key(secret, "default", SUBJECT if mine else f"customer-{number}"),
    )


def _outcome(decision_id: str) -> Outcome:
    return Outcome(
        id=f"o-{decision_id}",
        workspace="default",
        decision_id=decision_id,
        action=Action.APPROVE,
        correct=True,
        source=OutcomeSource.REVIEW,
        by="benchmark",
        anchored=False,
        recorded_at=NOW,
        comment=f"as {decision_id} says",
    )


async def _others(store: Store, waits: list[float], stop: asyncio.Event) -> None:
    """Decide one after the other, and note how long each took."""
    for number in range(10**9):
        if stop.is_set():
            return
        begun = perf_counter()
        await store.ledger.append(_record(store.secret, 10**8 + number * SHARE + 1))
        waits.append(perf_counter() - begun)
        await asyncio.sleep(0.001)


async def _waits(store: Store, work: Any) -> tuple[float, Any]:
    """Return the longest that another caller waited while `work` ran, with its result."""
    waits: list[float] = []
    stop = asyncio.Event()
    others = asyncio.create_task(_others(store, waits, stop))
    try:
        result = await work
    finally:
        stop.set()
        await others
    return max(waits), result


async def measured(url: str, decisions: int) -> Found:
    """Fill a store, erase one subject, and look."""
    store = open_store(url)
    await fill(store, decisions)
    longest_usual, _ = await _waits(store, asyncio.sleep(2.0 if decisions > QUICK else 0.2))
    tables, files, export = occurrences(store), in_files(url), in_export(store)
    of_labels = statistics(store)
    eraser = SubjectEraser(
        store=store.erasures, clock=SystemClock(), secret=store.secret, workspace="default"
    )
    begun = perf_counter()
    work = eraser.erase(SUBJECT, by="benchmark", reason="asked for")
    longest_wait, done = await _waits(store, work)
    seconds = perf_counter() - begun
    report = await store.ledger.verify()
    derived = await store.derived.compare()
    unchanged = statistics(store) == of_labels and all(one.ok for one in derived)
    tables_after, export_after = occurrences(store), in_export(store)
    store.close()
    after = in_files(url)
    return Found(
        decisions=decisions,
        erased=done.erased,
        in_tables=(tables, tables_after),
        in_files=None if files is None or after is None else (files, after),
        in_export=(export, export_after),
        holds=report.ok,
        unchanged=unchanged,
        seconds=seconds,
        longest_usual=longest_usual,
        longest_wait=longest_wait,
    )


def _rows(found: Found) -> Iterator[tuple[str, str]]:
    def change(pair: tuple[int, int] | None) -> str:
        return "-" if pair is None else f"{pair[0]:,} -> {pair[1]:,}"

    yield "decisions", f"{found.decisions:,}"
    yield "erased", f"{found.erased:,}"
    yield "marker in fields of tables", change(found.in_tables)
    yield "marker in files", change(found.in_files)
    yield "lines of an export that quote it", change(found.in_export)
    yield "chain verifies", "yes" if found.holds else "NO"
    yield "labels and counts unchanged", "yes" if found.unchanged else "NO"
    yield "seconds", f"{found.seconds:.1f}"
    yield "longest decision without", f"{found.longest_usual * 1000:.0f} ms"
    yield "longest decision meanwhile", f"{found.longest_wait * 1000:.0f} ms"


def show(found: dict[str, Found]) -> None:
    """Print a column for each store."""
    table = Table(title="Erasing one subject")
    table.add_column("")
    columns: list[dict[str, str]] = []
    for kind, one in found.items():
        table.add_column(TITLES[kind], justify="right")
        columns.append(dict(_rows(one)))
    for name in columns[0]:
        table.add_row(name, *(column[name] for column in columns))
    Console().print(table)


def run(kinds: Sequence[str], decisions: int) -> dict[str, Found]:
    """Measure on fresh stores of these kinds."""
    found: dict[str, Found] = {}
    for kind in kinds:
        with stores(kind) as fresh:
            found[kind] = asyncio.run(measured(fresh.fresh(), decisions))
    return found


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--decisions", type=int)
    add_store_option(parser, default="both")
    given = parser.parse_args()
    found = run(chosen(given.store), given.decisions or (QUICK if given.quick else DECISIONS))
    show(found)
    if not all(one.ok for one in found.values()):
        raise SystemExit("something was left, or something else changed")


if __name__ == "__main__":
    main()
