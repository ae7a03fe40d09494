"""Reads which audits are due, and what audits have found (G23)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ScalarSelect, and_, bindparam, literal_column, select

from sureline.adapters.storage.count_tables import labels, route_counts
from sureline.adapters.storage.moments import from_micros
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import decisions, outcomes, payloads
from sureline.application.ports.audits import AuditedLabel, DueAudit
from sureline.core.values.outcome import OutcomeSource

_DRAWN = decisions.c.audit == literal_column("1")
"""Written as the partial index has it, so that the index is used."""


def _first_audit(column: str) -> ScalarSelect[Any]:
    """Return a column of the first audit label of the decision in the query around it."""
    audits = outcomes.alias("audits")
    return (
        select(audits.c[column])
        .where(
            audits.c.workspace == decisions.c.workspace,
            audits.c.decision_id == decisions.c.id,
            audits.c.source == literal_column(f"'{OutcomeSource.AUDIT.value}'"),
            audits.c.correct.is_not(None),
        )
        .order_by(audits.c.seq)
        .limit(literal_column("1"))
        .offset(literal_column("0"))
        .correlate(decisions)
        .scalar_subquery()
    )


_UNANSWERED = (
    select(decisions.c.id, decisions.c.slice_key, decisions.c.created_at)
    .select_from(
        decisions.join(
            payloads,
            and_(payloads.c.stream == decisions.c.stream, payloads.c.seq == decisions.c.seq),
        )
    )
    .where(
        _DRAWN,
        decisions.c.workspace == bindparam("workspace"),
        _first_audit("seq").is_(None),
    )
    .order_by(decisions.c.created_at, decisions.c.seq)
    .limit(bindparam("limit"))
    .offset(literal_column("0"))
)
DUE_IN = compiled(_UNANSWERED.where(decisions.c.slice_key == bindparam("slice_key")))
"""What is due in a slice, oldest first."""
DUE = compiled(
    _UNANSWERED.where(
        decisions.c.slice_key.in_(
            select(route_counts.c.slice_key).where(
                route_counts.c.workspace == bindparam("counted_workspace")
            )
        )
    )
)
"""What is due in a workspace, oldest first; its slices are named, so that the index is used."""

_ANSWERED = _first_audit("seq")
AUDITED = compiled(
    select(
        decisions.c.id,
        decisions.c.created_at,
        _first_audit("recorded_at"),
        select(labels.c.correct)
        .where(
            labels.c.workspace == decisions.c.workspace,
            labels.c.decision_id == decisions.c.id,
        )
        .correlate(decisions)
        .scalar_subquery(),
    )
    .where(
        _DRAWN,
        decisions.c.workspace == bindparam("workspace"),
        decisions.c.slice_key == bindparam("slice_key"),
        decisions.c.measurement_hash == bindparam("measurement_hash"),
        decisions.c.created_at >= bindparam("since"),
        _ANSWERED.is_not(None),
    )
    .order_by(_ANSWERED)
)
"""Audited decisions with their effective labels, in the order in which audits were answered.

Subqueries instead of joins, so that the query can only begin at the index of what was drawn.
"""


def due_audit(row: Sequence[Any]) -> DueAudit:
    """Build the value from a row of `DUE` or `DUE_IN`."""
    return DueAudit(decision_id=row[0], slice_key=row[1], decided_at=from_micros(row[2]))


def audited_label(row: Sequence[Any]) -> AuditedLabel:
    """Build the value from a row of `AUDITED`."""
    return AuditedLabel(
        decision_id=row[0],
        decided_at=from_micros(row[1]),
        audited_at=from_micros(row[2]),
        correct=bool(row[3]),
    )
