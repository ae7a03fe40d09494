"""Tables that follow from the ledger and can be made anew from it: labels and counts."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, PrimaryKeyConstraint, Table

from sureline.adapters.storage.columns import metadata, text_column, whole_column
from sureline.core.values.opinion_use import FIGURES

OFF_SCALE = -1
"""The bin of labels whose decision has none, because no threshold could have automated it."""

labels = Table(
    "labels",
    metadata,
    text_column("workspace"),
    text_column("decision_id"),
    text_column("stream"),
    whole_column("seq"),
    text_column("stratum"),
    Column("correct", Integer, nullable=False),
    whole_column("mark"),
    PrimaryKeyConstraint("workspace", "decision_id"),
)

Index("ix_labels_mark", labels.c.mark)

label_counts = Table(
    "label_counts",
    metadata,
    text_column("workspace"),
    text_column("slice_key"),
    text_column("measurement_hash"),
    Column("week", Integer, nullable=False),
    Column("score_bin", Integer, nullable=False),
    text_column("stratum"),
    Column("correct", Integer, nullable=False),
    text_column("stream"),
    whole_column("count"),
    PrimaryKeyConstraint(
        "workspace",
        "slice_key",
        "measurement_hash",
        "week",
        "score_bin",
        "stratum",
        "correct",
        "stream",
    ),
    sqlite_with_rowid=False,  # read by key, thousands of rows at a time
)

route_counts = Table(
    "route_counts",
    metadata,
    text_column("workspace"),
    text_column("slice_key"),
    Column("day", Integer, nullable=False),
    text_column("route"),
    text_column("stream"),
    whole_column("count"),
    PrimaryKeyConstraint("workspace", "slice_key", "day", "route", "stream"),
)

score_counts = Table(
    "score_counts",
    metadata,
    text_column("workspace"),
    text_column("slice_key"),
    text_column("measurement_hash"),
    Column("week", Integer, nullable=False),
    Column("score_bin", Integer, nullable=False),
    text_column("stream"),
    whole_column("count"),
    PrimaryKeyConstraint(
        "workspace", "slice_key", "measurement_hash", "week", "score_bin", "stream"
    ),
    sqlite_with_rowid=False,
)

opinion_counts = Table(
    "opinion_counts",
    metadata,
    text_column("workspace"),
    text_column("slice_key"),
    Column("day", Integer, nullable=False),
    text_column("signal"),
    text_column("asked"),
    text_column("answered"),
    text_column("end"),
    text_column("reason"),
    Column("duration", Integer, nullable=False),
    text_column("stream"),
    *(whole_column(name) for name in FIGURES),
    PrimaryKeyConstraint(
        "workspace",
        "slice_key",
        "day",
        "signal",
        "asked",
        "answered",
        "end",
        "reason",
        "duration",
        "stream",
    ),
    sqlite_with_rowid=False,
)
