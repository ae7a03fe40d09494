"""Keeps each decision's effective label and the counts that calibration rests on.

The effective label is the latest of the strongest source: incident over audit over review (an
import counts like a review). Labels and counts follow from the ledger alone and change in the
transaction that writes an outcome, so that they are never stale.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, delete, literal_column, select
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.count_tables import OFF_SCALE, label_counts, labels
from sureline.adapters.storage.moments import from_micros
from sureline.adapters.storage.statement import adding, compiled
from sureline.adapters.storage.tables import decisions
from sureline.adapters.storage.transaction import Transaction
from sureline.core.values.outcome import OutcomeSource
from sureline.core.values.periods import day_number, week_number
from sureline.core.values.stratum import LabelStratum, Stratum

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


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenLabel:
    """What an outcome says of a decision; `mark` is the outcome's place in the chain."""

    decision: LabelledDecision
    source: OutcomeSource
    anchored: bool
    correct: bool
    mark: int


CountKey = tuple[str, str, str, int, int, str, int, str]
"""A row of `label_counts` without its count."""

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
    return new.rank >= old.rank


def set_label(transaction: Transaction, label: GivenLabel) -> None:
    """Make this the decision's label unless a stronger one stands, and move its count."""
    decision = label.decision
    old = transaction.first(_LABEL, (decision.workspace, decision.id))
    counts: Counter[CountKey] = Counter()
    if old is not None:
        if not overrides(label.source, LabelStratum.parse(old[0]).source):
            return
        count_label(counts, decision, old[0], bool(old[1]), -1)
    _write(transaction, [label], counts)


def set_first_labels(transaction: Transaction, labels_given: Sequence[GivenLabel]) -> None:
    """Do the same for decisions that have no label yet, each of them once, all together."""
    _write(transaction, labels_given, Counter())


def _write(
    transaction: Transaction, labels_given: Sequence[GivenLabel], counts: Counter[CountKey]
) -> None:
    """Write the labels, and the counts that they add to those of `counts`."""
    rows = []
    for label in labels_given:
        decision = label.decision
        stratum = label_stratum(label)
        count_label(counts, decision, stratum, label.correct, 1)
        rows.append(
            (
                decision.workspace,
                decision.id,
                decision.stream,
                decision.seq,
                stratum,
                int(label.correct),
                label.mark,
            )
        )
    transaction.run_many(_SET_LABEL, rows)
    changes = [(*key, change) for key, change in counts.items() if change]
    transaction.run_many(_ADD_COUNT, changes)
    transaction.run_many(_DROP_EMPTY, [key for key, change in counts.items() if change < 0])


def label_stratum(label: GivenLabel) -> str:
    """Return the stratum of a label as it is stored."""
    decision = label.decision.stratum
    return str(LabelStratum(source=label.source, anchored=label.anchored, decision=decision))


def count_label(
    counts: Counter[Any],
    decision: LabelledDecision,
    stratum: str,
    correct: bool,
    change: int,
) -> None:
    """Add `change` to the count of such labels; those without a place on the scale have one bin."""
    key: CountKey = (
        decision.workspace,
        decision.slice_key,
        decision.measurement_hash,
        decision.week,
        OFF_SCALE if decision.score_bin is None else decision.score_bin,
        stratum,
        int(correct),
        decision.stream,
    )
    counts[key] += change
