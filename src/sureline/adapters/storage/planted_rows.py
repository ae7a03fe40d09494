"""The tables of what is planted in the queue, apart from the ledger, and their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
)

from sureline.adapters.storage.columns import metadata, text_column, whole_column
from sureline.adapters.storage.moments import from_micros
from sureline.core.review.honeypot import PlantedAnswer, PlantedFor

planted = Table(
    "planted",
    metadata,
    text_column("workspace"),
    text_column("review_id"),
    text_column("purpose"),
    text_column("source_id"),
    text_column("origin"),
    text_column("trigger"),
    Column("body", LargeBinary, nullable=False),
    Column("answer", LargeBinary, nullable=True),
    text_column("first_by", null=True),
    Column("first_correct", Integer, nullable=True),
    PrimaryKeyConstraint("workspace", "review_id"),
    UniqueConstraint("workspace", "trigger"),
)
"""Task and sources stay where they are, with the decision `source_id`: erased there, gone here."""

Index("ix_planted_source", planted.c.workspace, planted.c.source_id)

planted_answers = Table(
    "planted_answers",
    metadata,
    text_column("workspace"),
    text_column("review_id"),
    text_column("by"),
    text_column("slice_key"),
    text_column("purpose"),
    Column("correct", Integer, nullable=False),
    Column("seconds", Float, nullable=True),
    whole_column("answered_at"),
    PrimaryKeyConstraint("workspace", "review_id", "by"),
)
"""Only ever appended to, and deleted when it is too old to be kept of a single person (L12)."""

Index("ix_planted_answers_at", planted_answers.c.workspace, planted_answers.c.answered_at)

planted_outcomes = Table(
    "planted_outcomes",
    metadata,
    text_column("workspace"),
    text_column("id"),
    text_column("review_id"),
    whole_column("place"),
    Column("body", LargeBinary, nullable=False),
    PrimaryKeyConstraint("workspace", "id"),
)
"""What would be the outcomes of a planted item, so that it can be read back like any other's."""

Index("ix_planted_outcomes_review", planted_outcomes.c.workspace, planted_outcomes.c.review_id)

planting = Table(
    "planting",
    metadata,
    text_column("workspace"),
    text_column("slice_key"),
    whole_column("seen"),
    whole_column("opened_at"),
    text_column("review_id"),
    text_column("why"),
    whole_column("tried"),
    PrimaryKeyConstraint("workspace", "slice_key"),
)
"""How many items of a slice were walked over, and up to where; the row "" is of the workspace.

`why` says why nothing could be planted the last time, "" where something was; `tried` is the mark
of the last label when what is owed was last tried.
"""

owed = Table(
    "planting_owed",
    metadata,
    text_column("workspace"),
    text_column("slice_key"),
    text_column("review_id"),
    PrimaryKeyConstraint("workspace", "slice_key", "review_id"),
)
"""Items behind which something belongs, and nothing could be planted when they were passed."""

follow_ups = Table(
    "review_follow_ups",
    metadata,
    text_column("workspace"),
    text_column("review_id"),
    PrimaryKeyConstraint("workspace", "review_id"),
)
"""Items that were released and may need a second or third look."""

own_answers = Table(
    "own_answers",
    metadata,
    text_column("workspace"),
    text_column("review_id"),
    text_column("by"),
    text_column("answer"),
    whole_column("answered_at"),
    PrimaryKeyConstraint("workspace", "review_id", "by"),
)
"""What people said was right before they saw the output; deleted when the item's payload is."""

ANSWERS = (
    planted_answers.c.review_id,
    planted_answers.c.slice_key,
    planted_answers.c.purpose,
    planted_answers.c.by,
    planted_answers.c.correct,
    planted_answers.c.seconds,
    planted_answers.c.answered_at,
)


def answer_of(row: Sequence[Any]) -> PlantedAnswer:
    """Build the value from the columns `ANSWERS`."""
    return PlantedAnswer(
        review_id=row[0],
        slice_key=row[1],
        purpose=PlantedFor(row[2]),
        by=row[3],
        correct=bool(row[4]),
        seconds=row[5],
        answered_at=from_micros(row[6]),
    )
