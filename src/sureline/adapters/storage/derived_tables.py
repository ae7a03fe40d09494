"""Compares labels and counts with what the ledger says, and makes them anew where they differ."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from sqlalchemy import Table, and_, exists, select

from sureline.adapters.storage.apart_workspaces import compare_apart, put_apart_right
from sureline.adapters.storage.batch import LongJob
from sureline.adapters.storage.compare_missions import compare_missions, put_missions_right
from sureline.adapters.storage.count_opinions import (
    DAY,
    STORED_OPINIONS,
    opinions_by_ledger,
    stored_opinions,
)
from sureline.adapters.storage.count_tables import (
    label_counts,
    labels,
    opinion_counts,
    route_counts,
    score_counts,
)
from sureline.adapters.storage.database import Database
from sureline.adapters.storage.labels import (
    LABELLED,
    GivenLabel,
    count_label,
    label_stratum,
    labelled,
    overrides,
)
from sureline.adapters.storage.moments import to_micros
from sureline.adapters.storage.rebuild_counts import WEEK, rebuild_counts
from sureline.adapters.storage.rebuild_incidents import compare_incidents, rebuild_incidents
from sureline.adapters.storage.schema_programs import PROGRAMS, compare_schema
from sureline.adapters.storage.statement import Statement, compiled
from sureline.adapters.storage.tables import decisions, outcomes
from sureline.adapters.storage.transaction import Transaction
from sureline.application.ports.registry import REBUILD
from sureline.core.derived_verification import TableComparison, TableReport, compare_counts
from sureline.core.schema_verification import SchemaReport
from sureline.core.values.outcome import OutcomeSource

Each = Callable[[Statement, Sequence[Any]], Iterable[tuple[Any, ...]]]
"""Runs a query and yields its rows one by one."""

_STORED_LABEL = (labels.c.stream, labels.c.seq, labels.c.stratum, labels.c.correct, labels.c.mark)
_ANSWERS = compiled(
    select(
        outcomes.c.source,
        outcomes.c.anchored,
        outcomes.c.correct,
        outcomes.c.seq,
        *_STORED_LABEL,
        *LABELLED,
    )
    .select_from(
        outcomes.join(
            decisions,
            and_(
                decisions.c.workspace == outcomes.c.workspace,
                decisions.c.id == outcomes.c.decision_id,
            ),
        ).outerjoin(
            labels,
            and_(
                labels.c.workspace == outcomes.c.workspace,
                labels.c.decision_id == outcomes.c.decision_id,
            ),
        )
    )
    .where(outcomes.c.correct.is_not(None))
    .order_by(outcomes.c.workspace, outcomes.c.decision_id, outcomes.c.seq)
)
"""Every answer that is a label, with the label that is stored; a decision's answers in a row."""
_LABEL_AT, _DECISION_AT = 4, 4 + len(_STORED_LABEL)
_UNFOUNDED = compiled(
    select(labels.c.workspace, labels.c.decision_id, *_STORED_LABEL).where(
        ~exists().where(
            outcomes.c.workspace == labels.c.workspace,
            outcomes.c.decision_id == labels.c.decision_id,
            outcomes.c.correct.is_not(None),
        )
    )
)
"""Labels that no answer gave."""
_DECISIONS = compiled(
    select(
        decisions.c.workspace,
        decisions.c.slice_key,
        DAY,
        decisions.c.route,
        decisions.c.stream,
        decisions.c.measurement_hash,
        WEEK,
        decisions.c.score_bin,
    )
)


def _stored(table: Table) -> Statement:
    return compiled(select(*table.primary_key, table.c.count))


_COUNTS = (label_counts, score_counts, route_counts)
_STORED_COUNTS = {table.name: _stored(table) for table in _COUNTS}


def compare_derived(each: Each) -> tuple[TableReport, ...]:
    """Return how every derived table compares; `each` must read as of one moment.

    Memory grows with the distinct keys of the count tables, not with decisions and labels.
    """
    counts: Counter[tuple[Any, ...]] = Counter()
    label_report = _compare_labels(each, counts)
    routes, scores = _count_decisions(each)
    return (
        label_report,
        *(
            compare_counts(table.name, expected, each(_STORED_COUNTS[table.name], ()))
            for table, expected in zip(_COUNTS, (counts, scores, routes), strict=True)
        ),
        compare_counts(
            opinion_counts.name,
            opinions_by_ledger(each).sums,
            stored_opinions(each(STORED_OPINIONS, ())),
        ),
        compare_incidents(each),
        compare_missions(each),
        *compare_apart(each),
    )


def _compare_labels(each: Each, counts: Counter[tuple[Any, ...]]) -> TableReport:
    """Compare the effective labels, and count them into `counts`."""
    comparison = TableComparison(labels.name)
    for key, answers in groupby(each(_ANSWERS, ()), key=_decision_key):
        label, stored = _effective(answers)
        decision, stratum = label.decision, label_stratum(label)
        count_label(counts, decision, stratum, label.correct, 1)
        expected = (decision.stream, decision.seq, stratum, int(label.correct), label.mark)
        comparison.add(key, None if stored[0] is None else stored, expected)
    for workspace, decision_id, *stored_label in each(_UNFOUNDED, ()):
        comparison.add((workspace, decision_id), tuple(stored_label), None)
    return comparison.report()


def _decision_key(row: Sequence[Any]) -> tuple[Any, Any]:
    return row[_DECISION_AT], row[_DECISION_AT + 1]


def _effective(answers: Iterator[tuple[Any, ...]]) -> tuple[GivenLabel, tuple[Any, ...]]:
    """Return the latest label of the strongest source, and the one that is stored."""
    strongest = next(answers)
    for row in answers:
        if overrides(OutcomeSource(row[0]), OutcomeSource(strongest[0])):
            strongest = row
    source, anchored, correct, mark = strongest[:_LABEL_AT]
    label = GivenLabel(
        decision=labelled(strongest[_DECISION_AT:]),
        source=OutcomeSource(source),
        anchored=bool(anchored),
        correct=bool(correct),
        mark=mark,
    )
    return label, strongest[_LABEL_AT:_DECISION_AT]


def _count_decisions(each: Each) -> tuple[Counter[tuple[Any, ...]], Counter[tuple[Any, ...]]]:
    """Count decisions by day and route, and by week and score bin."""
    routes: Counter[tuple[Any, ...]] = Counter()
    scores: Counter[tuple[Any, ...]] = Counter()
    for workspace, slice_key, day, route, stream, measurement, week, place in each(_DECISIONS, ()):
        routes[workspace, slice_key, day, route, stream] += 1
        if place is not None:
            scores[workspace, slice_key, measurement, week, place, stream] += 1
    return routes, scores


@dataclass(frozen=True, slots=True, kw_only=True)
class RebuildDerived:
    """The job of making the derived tables anew, which is recorded with what it put right."""

    workspace: str
    by: str
    at: datetime

    def __call__(self, transaction: Transaction) -> tuple[TableReport, ...]:
        """Rebuild if anything differs; return how the tables compared before."""
        found = compare_derived(transaction.each)
        wrong = [one for one in found if not one.ok]
        if wrong:
            rebuild_counts(transaction)
            rebuild_incidents(transaction)
            put_apart_right(transaction)
            put_missions_right(transaction)
            transaction.chain(
                "activation",
                {
                    "workspace": self.workspace,
                    "subject_kind": REBUILD,
                    "subject": ", ".join(one.table for one in wrong),
                    "by": self.by,
                    "at": to_micros(self.at),
                    "note": "; ".join(one.sentence for one in wrong),
                    "share": 1.0,
                },
            )
        return found


class SqlDerived:
    """Verifies and rebuilds what follows from the ledger."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def compare(self) -> tuple[TableReport, ...]:
        """Compare labels and counts with the ledger as of one moment; read off the loop."""

        def read() -> tuple[TableReport, ...]:
            with self._database.snapshot() as each:
                return compare_derived(each)

        return await asyncio.to_thread(read)

    def programs(self) -> SchemaReport:
        """Compare the triggers, rules and functions of the database with sureline's own."""
        with self._database.reader() as fetch:
            return compare_schema(fetch(PROGRAMS, ()))

    async def rebuild(self, *, workspace: str, by: str, at: datetime) -> tuple[TableReport, ...]:
        """Make what differs anew, and return how it compared before."""
        rebuild = RebuildDerived(workspace=workspace, by=by, at=at)
        return await self._database.write(LongJob(rebuild))
