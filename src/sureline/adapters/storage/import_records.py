"""Writes past decisions with their labels, thousands at once, by the rules of the usual path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

from sqlalchemy import and_, bindparam, select

from sureline.adapters.storage.append_decision import append_new
from sureline.adapters.storage.corrections import note_correction
from sureline.adapters.storage.count_tables import labels
from sureline.adapters.storage.labels import GivenLabel, LabelledDecision, set_first_labels
from sureline.adapters.storage.record_outcome import fields_of
from sureline.adapters.storage.statement import LISTED, compiled, json_list
from sureline.adapters.storage.tables import decisions, outcomes
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.ledger import DecisionRecord, LabelledRecord, RecordedLabel
from sureline.core.chain import Head
from sureline.core.values.decision import Route
from sureline.core.values.outcome import Outcome
from sureline.core.values.periods import day_number, week_number

_USED_OUTCOMES = compiled(
    select(outcomes.c.id).where(
        outcomes.c.workspace == bindparam("workspace"), outcomes.c.id.in_(LISTED)
    )
)
RECORDED = compiled(
    select(decisions.c.id, decisions.c.content_digest, labels.c.correct)
    .select_from(
        decisions.outerjoin(
            labels,
            and_(
                labels.c.workspace == decisions.c.workspace,
                labels.c.decision_id == decisions.c.id,
            ),
        )
    )
    .where(decisions.c.workspace == bindparam("workspace"), decisions.c.id.in_(LISTED))
)
"""Content digest and label of the decisions among `ids`; see `json_list`."""


def recorded_label(row: Sequence[Any]) -> RecordedLabel:
    """Build the value from a row of `RECORDED`."""
    return RecordedLabel(
        decision_id=row[0],
        content_digest=row[1],
        correct=None if row[2] is None else bool(row[2]),
    )


@dataclass(frozen=True, slots=True)
class ImportRecords:
    """The job of writing one workspace's past decisions with their labels.

    It writes only decisions that are new: those have no label yet, so that outcomes, labels and
    counts can go in together.
    """

    rows: Sequence[LabelledRecord]

    def __call__(self, transaction: Transaction) -> list[bool]:
        """Write them and tell which were written; the usual path settles the others."""
        used = _used_outcomes(transaction, self.rows)
        free = [row.outcome is None or row.outcome.id not in used for row in self.rows]
        rows = list(compress(self.rows, free))
        places = append_new(transaction, [row.record for row in rows])
        _write_outcomes(transaction, rows, places)
        written = iter(places)
        return [able and next(written) is not None for able in free]


def _used_outcomes(transaction: Transaction, rows: Sequence[LabelledRecord]) -> set[str]:
    """Return the ids of outcomes that are in the store already."""
    ids = [row.outcome.id for row in rows if row.outcome is not None]
    if not ids:
        return set()
    stored = transaction.all(_USED_OUTCOMES, (rows[0].record.workspace, json_list(ids)))
    return {row[0] for row in stored}


def _write_outcomes(
    transaction: Transaction, rows: Sequence[LabelledRecord], places: Sequence[int | None]
) -> None:
    """Write the outcomes of the decisions that were given a place."""
    new = [
        (row.record, seq, row.outcome)
        for row, seq in zip(rows, places, strict=True)
        if seq is not None and row.outcome is not None
    ]
    heads = transaction.chain_many("outcome", [fields_of(outcome) for _, _, outcome in new])
    _set_labels(transaction, new, heads)


def _set_labels(
    transaction: Transaction,
    new: Sequence[tuple[DecisionRecord, int, Outcome]],
    heads: Sequence[Head],
) -> None:
    """Set the labels of new decisions, and note which of those had acted and were wrong."""
    set_first_labels(
        transaction,
        [
            GivenLabel(
                decision=_labelled(record, transaction.own_stream, seq),
                source=outcome.source,
                anchored=outcome.anchored,
                correct=outcome.correct,
                mark=head.seq,
            )
            for (record, seq, outcome), head in zip(new, heads, strict=True)
            if outcome.correct is not None
        ],
    )
    for (record, _, outcome), head in zip(new, heads, strict=True):
        if outcome.correct is False and record.route == Route.AUTO_APPROVE:
            note_correction(transaction, record.workspace, record.id, head.seq)


def _labelled(record: DecisionRecord, stream: str, seq: int) -> LabelledDecision:
    return LabelledDecision(
        workspace=record.workspace,
        id=record.id,
        stream=stream,
        seq=seq,
        slice_key=record.slice_key,
        measurement_hash=record.measurement_hash,
        score_bin=record.score_bin,
        stratum=record.stratum,
        week=week_number(day_number(record.created_at)),
    )
