"""Copies a store into an empty one, of whatever kind, and proves that it is the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from sqlalchemy import Table, bindparam, func, select, update

from sureline.adapters.storage.batch import LongJob
from sureline.adapters.storage.columns import metadata
from sureline.adapters.storage.database import Each
from sureline.adapters.storage.statement import Statement, compiled, insertion
from sureline.adapters.storage.store import Store
from sureline.adapters.storage.tables import heads, meta
from sureline.adapters.storage.transaction import Transaction
from sureline.errors import Refused

BATCH = 1_000
"""Rows that are written together."""

Progress = Callable[[int], None]
"""Is told of every batch how many rows were copied."""

_SECRET = compiled(
    update(meta).where(meta.c.name == bindparam("of")).values(value=bindparam("secret"))
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CopyReport:
    """What was copied: rows by table; `problem` says in words why the copy must not be used."""

    rows: Mapping[str, int]
    head: str
    problem: str | None


async def copy_store(
    source: Store, target: Store, *, progress: Progress, moving: bool = False
) -> CopyReport:
    """Copy all rows in one transaction, as of one moment of the source; then verify the copy.

    What is written to the source afterwards is not copied: stop its processes first, or say that
    it is `moving`, for a backup. Raises Refused if the target is not empty, StoreError.
    """
    with source.database.snapshot() as each:
        counts = {table.name: _count(each, table) for table in _tables()}
        copy = _Copy(each, source.secret, progress)
        await target.database.write(LongJob(copy))
    return await _proven(None if moving else source, target, counts)


def _tables() -> Sequence[Table]:
    """Return what is copied, in a fixed order; the secret of `meta` is put in by itself."""
    return [table for name, table in sorted(metadata.tables.items()) if name != meta.name]


def _count(each: Each, table: Table) -> int:
    return int(next(each(_counting(table), ()))[0])


def _counting(table: Table) -> Statement:
    return compiled(select(func.count()).select_from(table))


@dataclass(frozen=True, slots=True)
class _Copy:
    """The job of writing everything."""

    each: Each
    secret: bytes
    progress: Progress

    def __call__(self, transaction: Transaction) -> None:
        """Write it. Raises Refused if something is there already."""
        taken = [one.name for one in _tables() if transaction.all(_counting(one))[0][0]]
        if taken:
            raise Refused(
                f"the store to copy to is not empty (it has {', '.join(taken)}); name a new one"
            )
        for table in _tables():
            self._copy(transaction, table)
        transaction.run(_SECRET, _SECRET.row({"secret": self.secret, "of": "secret"}))

    def _copy(self, transaction: Transaction, table: Table) -> None:
        insert = insertion(table)
        rows: Iterator[tuple[Any, ...]] = self.each(compiled(select(*table.columns)), ())
        while batch := list(islice(rows, BATCH)):
            transaction.run_many(insert, batch)
            self.progress(len(batch))


async def _proven(source: Store | None, target: Store, counts: Mapping[str, int]) -> CopyReport:
    """Compare the copy with its source: chain, heads, rows, and what follows from the ledger.

    Without `source`, which goes on meanwhile, the heads are those that the chain itself ends with.
    """
    chain = await target.ledger.verify()
    with target.database.snapshot() as each:
        found = {table.name: _count(each, table) for table in _tables()}
        ends = sorted(each(_ENDS, ()))
    problem = None
    if not chain.ok:
        problem = f"its ledger does not verify: {chain.fault.message if chain.fault else ''}"
    elif found != counts:
        wrong = [name for name, count in counts.items() if found[name] != count]
        problem = f"rows are missing in {', '.join(wrong)}"
    elif source is not None and ends != _ends(source):
        problem = "the source was written to meanwhile: stop its processes and copy again"
    elif not all(one.ok for one in await target.derived.compare()):
        problem = "labels or counts differ from its ledger: run `sureline ledger rebuild` on it"
    return CopyReport(rows=found, head=str(chain.head), problem=problem)


def _ends(store: Store) -> list[tuple[Any, ...]]:
    with store.database.snapshot() as each:
        return sorted(each(_ENDS, ()))


_ENDS = compiled(select(heads.c.stream, heads.c.seq))
