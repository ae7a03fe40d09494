"""The tables of the store, in SQLAlchemy Core, for every database.

Ledger tables are append-only and chained: each row has its place (`stream`, `seq`) and `hash`.
`seq` runs through all ledger tables of a stream. What quotes a payload lies apart, in `payloads`
and `vectors`, under the same (stream, seq), so that it can be erased. What is in `count_tables.py`
is derived and can be rebuilt from the ledger.

Times are whole microseconds since 1970 in UTC: what is hashed is exactly what is stored.
"""

from __future__ import annotations

from sqlalchemy import (
    Column,
    Float,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    text,
)

from sureline.adapters.storage.columns import (
    bytes_column,
    metadata,
    place,
    text_column,
    whole_column,
)

SCHEMA_REVISION = "0009"
"""The revision of the tables below; `migrations/versions` must end with it."""

decisions = Table(
    "decisions",
    metadata,
    *place(),
    bytes_column("hash"),
    text_column("workspace"),
    text_column("id"),
    text_column("slice_key"),
    text_column("route"),
    text_column("would_route", null=True),
    text_column("mode"),
    Column("score", Float, nullable=True),
    Column("score_bin", Integer, nullable=True),
    Column("audit", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    text_column("submitted_by", null=True),
    Column("propensity", Float, nullable=False),
    Column("attempt", Integer, nullable=False),
    text_column("stratum"),
    text_column("policy_hash"),
    text_column("measurement_hash"),
    text_column("batch_id", null=True),
    bytes_column("content_digest"),
    bytes_column("task_digest"),
    whole_column("created_at"),
    bytes_column("vector_digest", null=True),
    bytes_column("payload_digest"),
    bytes_column("body"),
    UniqueConstraint("workspace", "id"),
)

Index(
    "ix_decisions_failed",
    decisions.c.workspace,
    decisions.c.slice_key,
    decisions.c.task_digest,
    decisions.c.created_at,
    sqlite_where=text("failed = 1"),
    postgresql_where=text("failed = 1"),
)

Index(
    "ix_decisions_audited",
    decisions.c.workspace,
    decisions.c.slice_key,
    decisions.c.created_at,
    decisions.c.seq,
    sqlite_where=text("audit = 1"),
    postgresql_where=text("audit = 1"),
)

outcomes = Table(
    "outcomes",
    metadata,
    *place(),
    bytes_column("hash"),
    text_column("workspace"),
    text_column("id"),
    text_column("decision_id"),
    text_column("action"),
    Column("correct", Integer, nullable=True),
    text_column("source"),
    text_column("by"),
    Column("anchored", Integer, nullable=False),
    whole_column("recorded_at"),
    text_column("edited_fields"),
    text_column("content", null=True),
    bytes_column("payload_digest", null=True),
    UniqueConstraint("workspace", "id"),
)

Index("ix_outcomes_decision", outcomes.c.workspace, outcomes.c.decision_id)

switches = Table(
    "switches",
    metadata,
    *place(),
    bytes_column("hash"),
    text_column("workspace"),
    text_column("scope"),
    Column("on", Integer, nullable=False),
    text_column("reason"),
    text_column("by"),
    whole_column("changed_at"),
)

Index("ix_switches_scope", switches.c.workspace, switches.c.scope, switches.c.seq)

activations = Table(
    "activations",
    metadata,
    *place(),
    bytes_column("hash"),
    text_column("workspace"),
    text_column("subject_kind"),
    text_column("subject"),
    text_column("by"),
    whole_column("at"),
    text_column("note"),
    Column("share", Float, nullable=False),
)

Index("ix_activations_kind", activations.c.workspace, activations.c.subject_kind, activations.c.seq)

policies = Table(
    "policies",
    metadata,
    *place(),
    bytes_column("hash"),
    text_column("workspace"),
    text_column("policy_hash"),
    whole_column("proposed_at"),
    bytes_column("body"),
    UniqueConstraint("policy_hash"),
)

calibrations = Table(
    "calibrations",
    metadata,
    *place(),
    bytes_column("hash"),
    text_column("workspace"),
    text_column("id"),
    whole_column("created_at"),
    bytes_column("body"),
    UniqueConstraint("id"),
)

canary_runs = Table(
    "canary_runs",
    metadata,
    *place(),
    bytes_column("hash"),
    text_column("workspace"),
    text_column("id"),
    text_column("role"),
    text_column("asked"),
    text_column("identity"),
    text_column("outcome"),
    whole_column("ran_at"),
    bytes_column("body"),
    UniqueConstraint("id"),
)

erasures = Table(
    "erasures",
    metadata,
    *place(),
    bytes_column("hash"),
    text_column("workspace"),
    text_column("slice_key"),
    text_column("decision_id"),
    text_column("by"),
    text_column("reason"),
    whole_column("erased_at"),
    bytes_column("body"),
)

Index("ix_erasures_decision", erasures.c.workspace, erasures.c.decision_id)

seals = Table(
    "seals",
    metadata,
    *place(),
    bytes_column("hash"),
    text_column("workspace"),
    whole_column("sealed_at"),
    bytes_column("body"),
)
"""Where the streams of decisions stood, in the common stream: one head commits to all of them."""

mission_events = Table(
    "mission_events",
    metadata,
    *place(),
    bytes_column("hash"),
    text_column("workspace"),
    text_column("mission_id"),
    text_column("event"),
    whole_column("at"),
    text_column("state"),
    text_column("cause"),
    whole_column("invocation"),
    text_column("by", null=True),
    text_column("decision_id", null=True),
    text_column("facts"),
)
"""What happened to missions: codes, figures and names. `decision_id` is an evaluation's."""

Index(
    "ix_mission_events_mission",
    mission_events.c.workspace,
    mission_events.c.mission_id,
    mission_events.c.seq,
)

payloads = Table(
    "payloads",
    metadata,
    *place(),
    text_column("workspace"),
    bytes_column("salt"),
    bytes_column("answer"),
    bytes_column("request"),
)

vectors = Table(
    "vectors",
    metadata,
    *place(),
    text_column("workspace"),
    text_column("model_id"),
    bytes_column("vector"),
)

consumptions = Table(
    "consumptions",
    metadata,
    text_column("workspace"),
    text_column("decision_id"),
    whole_column("consumed_at"),
    PrimaryKeyConstraint("workspace", "decision_id"),
)

heads = Table(
    "heads",
    metadata,
    text_column("stream"),
    whole_column("seq"),
    bytes_column("hash"),
    PrimaryKeyConstraint("stream"),
)

meta = Table(
    "meta",
    metadata,
    text_column("name"),
    bytes_column("value"),
    PrimaryKeyConstraint("name"),
)

CHAINED: dict[str, Table] = {
    "decision": decisions,
    "outcome": outcomes,
    "switch": switches,
    "activation": activations,
    "policy": policies,
    "calibration": calibrations,
    "canary_run": canary_runs,
    "erasure": erasures,
    "seal": seals,
    "mission_event": mission_events,
}
"""The ledger tables by the kind of their rows."""

APPEND_ONLY: tuple[Table, ...] = (*CHAINED.values(), consumptions)
"""Tables whose rows are never updated or deleted; the database itself refuses it."""
