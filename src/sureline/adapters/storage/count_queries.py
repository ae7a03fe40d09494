"""The queries of the count tables: summed over streams, in a fixed order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import bindparam, func, literal_column, select

from sureline.adapters.storage.count_tables import (
    OFF_SCALE,
    label_counts,
    route_counts,
    score_counts,
)
from sureline.adapters.storage.statement import compiled
from sureline.core.values.label_count import LabelCount
from sureline.core.values.stratum import LabelStratum

_SLICE = (
    label_counts.c.workspace == bindparam("workspace"),
    label_counts.c.slice_key == bindparam("slice_key"),
    label_counts.c.measurement_hash == bindparam("measurement_hash"),
    label_counts.c.week >= bindparam("since_week"),
)
LABEL_COUNTS = compiled(
    select(
        label_counts.c.score_bin,
        label_counts.c.stratum,
        label_counts.c.correct,
        func.sum(label_counts.c.count),
    )
    .where(*_SLICE, label_counts.c.score_bin != literal_column(str(OFF_SCALE)))
    .group_by(label_counts.c.score_bin, label_counts.c.stratum, label_counts.c.correct)
    .order_by(label_counts.c.score_bin, label_counts.c.stratum, label_counts.c.correct)
)
LABELS_OFF_SCALE = compiled(
    select(func.coalesce(func.sum(label_counts.c.count), literal_column("0"))).where(
        *_SLICE, label_counts.c.score_bin == literal_column(str(OFF_SCALE))
    )
)
SCORE_COUNTS = compiled(
    select(score_counts.c.week, score_counts.c.score_bin, func.sum(score_counts.c.count))
    .where(
        score_counts.c.workspace == bindparam("workspace"),
        score_counts.c.slice_key == bindparam("slice_key"),
        score_counts.c.measurement_hash == bindparam("measurement_hash"),
    )
    .group_by(score_counts.c.week, score_counts.c.score_bin)
    .order_by(score_counts.c.week, score_counts.c.score_bin)
)
ROUTE_DAYS = compiled(
    select(
        route_counts.c.slice_key,
        route_counts.c.day,
        route_counts.c.route,
        func.sum(route_counts.c.count),
    )
    .where(route_counts.c.workspace == bindparam("workspace"))
    .group_by(route_counts.c.slice_key, route_counts.c.day, route_counts.c.route)
    .order_by(route_counts.c.day, route_counts.c.slice_key, route_counts.c.route)
)
ROUTE_COUNTS = compiled(
    select(route_counts.c.slice_key, route_counts.c.route, func.sum(route_counts.c.count))
    .where(route_counts.c.workspace == bindparam("workspace"))
    .group_by(route_counts.c.slice_key, route_counts.c.route)
    .order_by(route_counts.c.slice_key, route_counts.c.route)
)


def counts_of(rows: Sequence[Sequence[Any]]) -> list[LabelCount]:
    """Return the rows of LABEL_COUNTS as values."""
    strata = {text: LabelStratum.parse(text) for text in {row[1] for row in rows}}
    return [
        LabelCount(score_bin=place, stratum=strata[text], correct=bool(correct), count=int(count))
        for place, text, correct, count in rows
    ]
