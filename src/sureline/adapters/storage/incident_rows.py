"""The table of incidents, and incidents as its rows."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Column, Index, Integer, PrimaryKeyConstraint, Table
from sqlalchemy.dialects.postgresql import insert as upsert

from sureline.adapters.storage.columns import metadata, text_column, whole_column
from sureline.adapters.storage.moments import from_micros, moment_or_none
from sureline.adapters.storage.statement import compiled
from sureline.core.values.incident import Incident
from sureline.core.values.outcome import OutcomeSource

incidents = Table(
    "incidents",
    metadata,
    text_column("workspace"),
    text_column("id"),
    text_column("decision_id"),
    text_column("slice_key"),
    text_column("outcome_id"),
    whole_column("opened_mark"),
    whole_column("opened_at"),
    text_column("source"),
    text_column("certificate", null=True),
    text_column("policy"),
    text_column("models"),
    Column("stands", Integer, nullable=False),
    whole_column("closed_mark", null=True),
    whole_column("closed_at", null=True),
    text_column("closed_by", null=True),
    text_column("note", null=True),
    PrimaryKeyConstraint("workspace", "id"),
)
"""Follows from outcomes, from how items ended, and from the activations that close incidents."""

Index("ix_incidents_listed", incidents.c.workspace, incidents.c.opened_mark)
Index("ix_incidents_decision", incidents.c.workspace, incidents.c.decision_id)

COLUMNS = tuple(incidents.columns)
_insert = upsert(incidents)
PUT = compiled(
    _insert.on_conflict_do_update(
        index_elements=["workspace", "id"],
        set_={
            column.name: _insert.excluded[column.name]
            for column in COLUMNS
            if not column.primary_key
        },
    )
)


def incident_of(row: Sequence[Any]) -> Incident:
    """Build an incident from a row of all columns."""
    values = dict(zip((column.name for column in COLUMNS), row, strict=True))
    closed = values["closed_at"]
    return Incident(
        workspace=values["workspace"],
        id=values["id"],
        decision_id=values["decision_id"],
        slice_key=values["slice_key"],
        outcome_id=values["outcome_id"],
        source=OutcomeSource(values["source"]),
        opened_at=from_micros(values["opened_at"]),
        certificate=values["certificate"],
        policy=values["policy"],
        models=tuple(json.loads(values["models"])),
        stands=bool(values["stands"]),
        closed_at=moment_or_none(closed),
        closed_by=values["closed_by"],
        note=values["note"],
    )
