"""Keeps each decision's effective label and the counts that calibration rests on.

The effective label is the latest of the strongest source: incident over audit over review (an
import counts like a review). Labels and counts follow from the ledger alone and change in the
transaction that writes an outcome, so that they are never stale.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, delete, literal_column, select
from sqlalchemy.dialects.sqlite import insert as upsert

from sureline.adapters.storage.append_decision import adding
from sureline.adapters.storage.count_tables import label_counts, labels
from sureline.adapters.storage.moments import from_micros
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.tables import decisions
from sureline.adapters.storage.transaction import STREAM, Transaction
from sureline.core.values.outcome import OutcomeSource
from sureline.core.values.periods import day_number, week_number
from sureline.core.values.stratum import LabelStratum, Stratum

_RANK = {
    OutcomeSource.IMPORT: 0,
    OutcomeSource.REVIEW: 0,
    OutcomeSource.AUDIT: 1,
    OutcomeSource.INCIDENT: 2,
}

_LABEL = compiled(
    select(labels.c.stratum, labels.c.correct).where(
        labels.c.workspace == bindparam("workspace"),
        labels.c.decision_id == bindparam("decision_id"),
    )
)
_insert_label = upsert(labels)
_SET_LABEL = compiled(
    _insert_label.on_conflict_do_update(
        index_elements=["workspace", "decision_id"],
        set_={name: _insert_label.excluded[name] for name in ("stratum", "correct", "mark")},
    )
)
_ADD_COUNT = adding(label_counts)
_DROP_EMPTY = compiled(
    delete(label_counts).where(
        *(column == bindparam(f"the_{column.name}") for column in label_counts.primary_key),
        label_counts.c.count == literal_column("0"),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledDecision:
    """What of a decision its label is counted under."""

    workspace: str
    id: str
    stream: str
    seq: int
    slice_key: str
    measurement_hash: str
    score_bin: int | None
    stratum: Stratum
    week: int


LABELLED = (
    decisions.c.workspace,
    decisions.c.id,
    decisions.c.stream,
    decisions.c.seq,
    decisions.c.slice_key,
    decisions.c.measurement_hash,
    decisions.c.score_bin,
    decisions.c.stratum,
    decisions.c.created_at,
)
"""The columns that `labelled` reads, in order."""

BY_DECISION = compiled(
    select(*LABELLED).where(
        decisions.c.workspace == bindparam("workspace"), decisions.c.id == bindparam("id")
    )
)


def labelled(row: tuple[Any, ...]) -> LabelledDecision:
    """Build the value from the columns `LABELLED`."""
    return LabelledDecision(
        workspace=row[0],
        id=row[1],
        stream=row[2],
        seq=row[3],
        slice_key=row[4],
        measurement_hash=row[5],
        score_bin=row[6],
        stratum=Stratum.parse(row[7]),
        week=week_number(day_number(from_micros(row[8]))),
    )


def overrides(new: OutcomeSource, old: OutcomeSource) -> bool:
    """Tell whether a later label from `new` replaces one from `old`."""
    return _RANK[new] >= _RANK[old]


def set_label(
    transaction: Transaction,
    decision: LabelledDecision,
    *,
    source: OutcomeSource,
    anchored: bool,
    correct: bool,
    mark: int,
) -> None:
    """Make this the decision's label unless a stronger one stands, and move its count."""
    stratum = LabelStratum(source=source, anchored=anchored, decision=decision.stratum)
    old = transaction.first(_LABEL, (decision.workspace, decision.id))
    if old is not None:
        if not overrides(source, LabelStratum.parse(old[0]).source):
            return
        _count(transaction, decision, old[0], bool(old[1]), -1)
    _count(transaction, decision, str(stratum), correct, 1)
    transaction.run(
        _SET_LABEL,
        (
            decision.workspace,
            decision.id,
            decision.stream,
            decision.seq,
            str(stratum),
            int(correct),
            mark,
        ),
    )


def _count(
    transaction: Transaction,
    decision: LabelledDecision,
    stratum: str,
    correct: bool,
    change: int,
) -> None:
    if decision.score_bin is None:  # nothing was measured: no place on the scale
        return
    key = (
        decision.workspace,
        decision.slice_key,
        decision.measurement_hash,
        decision.week,
        decision.score_bin,
        stratum,
        int(correct),
        STREAM,
    )
    transaction.run(_ADD_COUNT, (*key, change))
    if change < 0:
        transaction.run(_DROP_EMPTY, key)
