"""Reads which audits are due, and what audits have found (G23)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import and_, bindparam, func, literal_column, select

from sureline.adapters.storage.count_tables import labels
from sureline.adapters.storage.moments import from_micros
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import decisions, outcomes, payloads
from sureline.application.ports.audits import AuditedLabel, DueAudit
from sureline.core.values.outcome import OutcomeSource

_DRAWN = decisions.c.audit == literal_column("1")
"""Written as the partial index has it, so that the index is used."""
_IS_AUDIT = and_(
    outcomes.c.source == literal_column(f"'{OutcomeSource.AUDIT.value}'"),
    outcomes.c.correct.is_not(None),
)
_UNANSWERED = (
    select(decisions.c.id, decisions.c.slice_key, decisions.c.created_at)
    .select_from(
        decisions.join(
            payloads,
            and_(payloads.c.stream == decisions.c.stream, payloads.c.seq == decisions.c.seq),
        )
    )
    .where(_DRAWN, decisions.c.workspace == bindparam("workspace"))
    .where(
        ~select(literal_column("1"))
        .where(
            outcomes.c.workspace == decisions.c.workspace,
            outcomes.c.decision_id == decisions.c.id,
            _IS_AUDIT,
        )
        .exists()
    )
)
_OLDEST = (
    _UNANSWERED.order_by(decisions.c.seq).limit(bindparam("limit")).offset(literal_column("0"))
)
DUE = compiled(_OLDEST)
"""What is due in a workspace, oldest first."""
DUE_IN = compiled(_OLDEST.where(decisions.c.slice_key == bindparam("slice_key")))
"""What is due in a slice, oldest first."""

AUDITED = compiled(
    select(
        decisions.c.id,
        decisions.c.created_at,
        func.min(outcomes.c.recorded_at),
        labels.c.correct,
    )
    .select_from(
        decisions.join(
            outcomes,
            and_(
                outcomes.c.workspace == decisions.c.workspace,
                outcomes.c.decision_id == decisions.c.id,
                _IS_AUDIT,
            ),
        ).join(
            labels,
            and_(
                labels.c.workspace == decisions.c.workspace,
                labels.c.decision_id == decisions.c.id,
            ),
        )
    )
    .where(
        _DRAWN,
        decisions.c.workspace == bindparam("workspace"),
        decisions.c.slice_key == bindparam("slice_key"),
        decisions.c.measurement_hash == bindparam("measurement_hash"),
        decisions.c.created_at >= bindparam("since"),
    )
    .group_by(decisions.c.id, decisions.c.created_at, labels.c.correct)
    .order_by(func.min(outcomes.c.seq))
)
"""Audited decisions with their effective labels, in the order in which audits were answered."""


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
