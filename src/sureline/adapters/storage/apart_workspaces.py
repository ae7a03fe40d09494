"""Compares the workspace of what lies apart from the ledger with that of its row there.

Who reads and erases goes by the workspace; the chain covers it in the ledger's row alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import Table, and_, func, select, union_all, update

from sureline.adapters.storage.statement import Statement, compiled
from sureline.adapters.storage.subjects import subjects
from sureline.adapters.storage.tables import decisions, outcomes, payloads, vectors
from sureline.adapters.storage.transaction import Transaction
from sureline.core.derived_verification import TableReport, compare_workspaces

Each = Callable[[Statement, Sequence[Any]], Iterable[tuple[Any, ...]]]
"""Runs a query and yields its rows one by one."""

_OWNERS: dict[Table, tuple[Table, ...]] = {
    payloads: (decisions, outcomes),
    vectors: (decisions,),
    subjects: (decisions,),
}


def _same_place(apart: Table, ledger: Table) -> Any:
    return and_(apart.c.stream == ledger.c.stream, apart.c.seq == ledger.c.seq)


_COUNT = {apart: compiled(select(func.count()).select_from(apart)) for apart in _OWNERS}
_WRONG = {
    apart: compiled(
        union_all(
            *(
                select(apart.c.stream, apart.c.seq, apart.c.workspace, ledger.c.workspace)
                .select_from(apart.join(ledger, _same_place(apart, ledger)))
                .where(apart.c.workspace != ledger.c.workspace)
                for ledger in ledgers
            )
        )
    )
    for apart, ledgers in _OWNERS.items()
}
_PUT_RIGHT = tuple(
    compiled(
        update(apart)
        .values(workspace=ledger.c.workspace)
        .where(_same_place(apart, ledger), apart.c.workspace != ledger.c.workspace)
    )
    for apart, ledgers in _OWNERS.items()
    for ledger in ledgers
)


def compare_apart(each: Each) -> tuple[TableReport, ...]:
    """Return how payloads, vectors and subjects compare."""
    return tuple(
        compare_workspaces(apart.name, next(iter(each(count, ())))[0], each(_WRONG[apart], ()))
        for apart, count in _COUNT.items()
    )


def put_apart_right(transaction: Transaction) -> None:
    """Give each row the workspace of its row in the ledger."""
    for statement in _PUT_RIGHT:
        transaction.run(statement)
