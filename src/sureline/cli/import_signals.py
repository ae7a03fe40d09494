"""The part of `sureline import` that takes in logs with signals of their own."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from sureline.application.import_log import Imported
from sureline.application.import_signals import SignalImport
from sureline.application.log_only import LogOnlyCurrents
from sureline.application.mapped_signals import MappedSignals
from sureline.application.ports.tables import Table
from sureline.bootstrap import Services, open_table
from sureline.cli.output import error_json, note, print_json, progress, say
from sureline.cli.session import on_store
from sureline.errors import InvalidInput

SHOWN = 20
"""How many rejected rows are shown; the file of rejects lists all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalLog:
    """A log to take in, who vouches for its labels, and where its rejects go."""

    file: Path
    mapped: MappedSignals
    by: str
    rejects: Path


@dataclass(slots=True, kw_only=True)
class _Count:
    unit: str
    new: int = 0
    known: int = 0
    labels: int = 0
    rejected: int = 0
    first: list[dict[str, Any]] = field(default_factory=list)

    def add(self, rows: Iterable[Imported]) -> Iterator[dict[str, Any]]:
        """Count rows and yield those that were rejected, as JSON values."""
        for row in rows:
            if row.error is None:
                self.new += row.created
                self.known += not row.created
                self.labels += row.label is not None
                continue
            self.rejected += 1
            rejected = {self.unit: row.place, "error": error_json(row.error)}
            if len(self.first) < SHOWN:
                self.first.append(rejected)
            yield rejected


class _Rejects:
    """A file of JSON lines that exists only if there is something in it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: TextIO | None = None

    def write(self, rejected: dict[str, Any]) -> None:
        """Add one line."""
        if self._file is None:
            try:
                self._file = self._path.open("w", encoding="utf-8")
            except OSError as error:
                reason = error.strerror or "it cannot be written"
                raise InvalidInput(
                    f"{self._path}: cannot list rejected rows: {reason}", field="--rejects"
                ) from error
        self._file.write(json.dumps(rejected, ensure_ascii=False) + "\n")

    def close(self) -> None:
        """Close the file if there is one."""
        if self._file is not None:
            self._file.close()


@contextmanager
def _rejects(path: Path) -> Iterator[_Rejects]:
    rejects = _Rejects(path)
    try:
        yield rejects
    finally:
        rejects.close()


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Look for cycles seldom: a row makes dozens of objects that live in none."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def import_signals(
    log: SignalLog, policy: Path | None, store: str | None, workspace: str, *, as_json: bool
) -> int:
    """Take in the log, report what became of it, and return how many rows were rejected."""
    table = open_table(log.file)

    async def work(services: Services) -> _Count:
        # Not `prepare`: the log brings its signals, nothing here has to measure them.
        if policy is not None:
            await services.policies.introduce(policy)
        return await _run(services, log, table)

    count = on_store(work, store=store, workspace=workspace, create=True, by=log.by)
    _report(count, log.rejects, as_json)
    return count.rejected


async def _run(services: Services, log: SignalLog, table: Table) -> _Count:
    taking = SignalImport(
        ledger=services.ledger,
        currents=LogOnlyCurrents(services.currents),
        clock=services.clock,
        secret=services.store.secret,
        workspace=services.workspace,
        mapped=log.mapped,
        by=log.by,
    )
    count = _Count(unit=table.unit)
    with (
        _rare_collections(),
        _rejects(log.rejects) as rejects,
        progress(f"importing {table.name}", table.estimated_rows()) as advance,
    ):
        async for rows in taking.run(table):
            for rejected in count.add(rows):
                rejects.write(rejected)
            advance(len(rows))
    return count


def _report(count: _Count, rejects: Path, as_json: bool) -> None:
    where = str(rejects) if count.rejected else None
    if as_json:
        print_json(
            {
                "new": count.new,
                "known": count.known,
                "labels": count.labels,
                "rejected": count.rejected,
                "first_rejected": count.first,
                "rejects": where,
            }
        )
        return
    for one in count.first:
        note(f"{count.unit} {one[count.unit]}: {one['error']['message']}")
    if where is not None:
        note(f"all {count.rejected} rejected rows are listed in {where}")
    say(
        f"{count.new} new, {count.known} there already, {count.labels} labels, "
        f"{count.rejected} rejected"
    )
