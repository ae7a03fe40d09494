"""The queries of the count tables: summed over streams, in a fixed order."""

from __future__ import annotations

from sqlalchemy import bindparam, func, select

from sureline.adapters.storage.count_tables import label_counts, route_counts, score_counts
from sureline.adapters.storage.statement import compiled

LABEL_COUNTS = compiled(
    select(
        label_counts.c.score_bin,
        label_counts.c.stratum,
        label_counts.c.correct,
        func.sum(label_counts.c.count),
    )
    .where(
        label_counts.c.workspace == bindparam("workspace"),
        label_counts.c.slice_key == bindparam("slice_key"),
        label_counts.c.measurement_hash == bindparam("measurement_hash"),
        label_counts.c.week >= bindparam("since_week"),
    )
    .group_by(label_counts.c.score_bin, label_counts.c.stratum, label_counts.c.correct)
    .order_by(label_counts.c.score_bin, label_counts.c.stratum, label_counts.c.correct)
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
