"""What the store knows before a proposal is measured, in one read."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ScalarSelect, Table, bindparam, func, literal_column, select

from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import activations, decisions, erasures, outcomes


def _mark(table: Table) -> ScalarSelect[Any]:
    """Grow with each row of the table, whoever writes it; read from the end of its index."""
    return (
        select(func.coalesce(func.max(table.c.seq), literal_column("0")))
        .where(table.c.stream == bindparam("common_stream"))
        .scalar_subquery()
    )


_rejections = (
    select(func.count())
    .select_from(decisions)
    .where(
        decisions.c.workspace == bindparam("workspace"),
        decisions.c.slice_key == bindparam("slice_key"),
        decisions.c.task_digest == bindparam("task_digest"),
        decisions.c.created_at >= bindparam("since"),
        # Spelled out instead of bound: only so does the partial index serve.
        decisions.c.failed == literal_column("1"),
    )
    .scalar_subquery()
)
_chain = (
    select(decisions.c.attempt)
    .where(decisions.c.workspace == bindparam("home"), decisions.c.id == bindparam("retry_of"))
    .scalar_subquery()
)

PRIOR = compiled(
    select(
        _rejections,
        func.coalesce(_chain, literal_column("0")),
        _mark(outcomes) + _mark(erasures),
        _mark(activations),
    )
)
"""Failed attempts at the task, attempt of the retried decision, verdict mark, activation mark."""

ACTIVATION_MARK = compiled(select(_mark(activations)))
"""The activation mark alone."""
