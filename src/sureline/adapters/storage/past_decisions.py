"""Streams decisions with their effective labels, for simulation and comparison."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

from sqlalchemy import and_, bindparam, literal_column, select

from sureline.adapters.storage.count_tables import labels
from sureline.adapters.storage.moments import from_micros
from sureline.adapters.storage.statement import Statement, compiled
from sureline.adapters.storage.tables import decisions, heads
from sureline.application.ports.ledger import PastDecision
from sureline.core.values.stratum import LabelStratum, Stratum

PAGE = 1_000
"""Decisions per read, so that no read lasts long and memory stays small."""

Fetch = Callable[[Statement, Sequence[Any]], list[Any]]

_HEADS = compiled(select(heads.c.stream, heads.c.seq).order_by(heads.c.stream))
_PAGE = compiled(
    select(
        decisions.c.seq,
        decisions.c.id,
        decisions.c.slice_key,
        decisions.c.route,
        decisions.c.would_route,
        decisions.c.audit,
        decisions.c.propensity,
        decisions.c.stratum,
        decisions.c.policy_hash,
        decisions.c.measurement_hash,
        decisions.c.task_digest,
        decisions.c.created_at,
        decisions.c.body,
        labels.c.correct,
        labels.c.stratum,
    )
    .select_from(
        decisions.outerjoin(
            labels,
            and_(
                labels.c.workspace == decisions.c.workspace,
                labels.c.decision_id == decisions.c.id,
            ),
        )
    )
    .where(decisions.c.stream == bindparam("stream"))
    .where(decisions.c.seq > bindparam("after"), decisions.c.seq <= bindparam("horizon"))
    # Not the bare column: its index would find the whole workspace anew for every page.
    .where(decisions.c.workspace.concat(literal_column("''")) == bindparam("workspace"))
    .where(decisions.c.slice_key == bindparam("slice_key"))
    .where(decisions.c.created_at >= bindparam("since"))
    .order_by(decisions.c.seq)
    .limit(bindparam("page"))
    .offset(literal_column("0"))
)


def past_decisions(
    fetch: Fetch, *, workspace: str, slice_key: str, since: int
) -> Iterator[PastDecision]:
    """Yield the decisions that are there now, oldest first; each writer's as it wrote them."""
    wanted = (workspace, slice_key, since)
    parts = [_written_by(fetch, stream, until, wanted) for stream, until in fetch(_HEADS, ())]
    return heapq.merge(*parts, key=lambda one: one.created_at) if len(parts) > 1 else chain(*parts)


def _written_by(
    fetch: Fetch, stream: str, until: int, wanted: tuple[str, str, int]
) -> Iterator[PastDecision]:
    after = 0
    while rows := fetch(_PAGE, (stream, after, until, *wanted, PAGE)):
        yield from map(_past_decision, rows)
        after = rows[-1][0]


def _past_decision(row: Sequence[Any]) -> PastDecision:
    return PastDecision(
        id=row[1],
        slice_key=row[2],
        route=row[3],
        would_route=row[4],
        audit=bool(row[5]),
        propensity=row[6],
        stratum=Stratum.parse(row[7]),
        policy_hash=row[8],
        measurement_hash=row[9],
        task_digest=row[10],
        created_at=from_micros(row[11]),
        body=row[12],
        correct=None if row[13] is None else bool(row[13]),
        label_source=None if row[14] is None else LabelStratum.parse(row[14]).source,
    )
