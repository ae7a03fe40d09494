"""The tables of the store, in SQLAlchemy Core, for every database.

Ledger tables are append-only and chained: each row has its place (`stream`, `seq`) and `hash`.
`seq` runs through all ledger tables of a stream. What quotes a payload lies apart, in `payloads`
and `vectors`, under the same (stream, seq), so that it can be erased. What is in `count_tables.py`
is derived and can be rebuilt from the ledger.

Times are whole microseconds since 1970 in UTC: what is hashed is exactly what is stored.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Float,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    UniqueConstraint,
    text,
)

from sureline.adapters.storage.text_type import TEXT

SCHEMA_REVISION = "0008"
"""The revision of the tables below; `migrations/versions` must end with it."""

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


def text_column(name: str, *, null: bool = False) -> Column[Any]:
    """Make a column of text."""
    return Column(name, TEXT, nullable=null)


def whole_column(name: str, *, null: bool = False) -> Column[Any]:
    """Make a column of whole numbers of 64 bits."""
    return Column(name, BigInteger, nullable=null)


def _bytes(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, LargeBinary, nullable=null)


def _place() -> tuple[Column[Any], Column[Any], PrimaryKeyConstraint]:
    return text_column("stream"), whole_column("seq"), PrimaryKeyConstraint("stream", "seq")


decisions = Table(
    "decisions",
    metadata,
    *_place(),
    _bytes("hash"),
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
    _bytes("content_digest"),
    _bytes("task_digest"),
    whole_column("created_at"),
    _bytes("vector_digest", null=True),
    _bytes("payload_digest"),
    _bytes("body"),
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
    *_place(),
    _bytes("hash"),
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
    _bytes("payload_digest", null=True),
    UniqueConstraint("workspace", "id"),
)

Index("ix_outcomes_decision", outcomes.c.workspace, outcomes.c.decision_id)

switches = Table(
    "switches",
    metadata,
    *_place(),
    _bytes("hash"),
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
    *_place(),
    _bytes("hash"),
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
    *_place(),
    _bytes("hash"),
    text_column("workspace"),
    text_column("policy_hash"),
    whole_column("proposed_at"),
    _bytes("body"),
    UniqueConstraint("policy_hash"),
)

calibrations = Table(
    "calibrations",
    metadata,
    *_place(),
    _bytes("hash"),
    text_column("workspace"),
    text_column("id"),
    whole_column("created_at"),
    _bytes("body"),
    UniqueConstraint("id"),
)

canary_runs = Table(
    "canary_runs",
    metadata,
    *_place(),
    _bytes("hash"),
    text_column("workspace"),
    text_column("id"),
    text_column("role"),
    text_column("asked"),
    text_column("identity"),
    text_column("outcome"),
    whole_column("ran_at"),
    _bytes("body"),
    UniqueConstraint("id"),
)

erasures = Table(
    "erasures",
    metadata,
    *_place(),
    _bytes("hash"),
    text_column("workspace"),
    text_column("slice_key"),
    text_column("decision_id"),
    text_column("by"),
    text_column("reason"),
    whole_column("erased_at"),
    _bytes("body"),
)

Index("ix_erasures_decision", erasures.c.workspace, erasures.c.decision_id)

seals = Table(
    "seals",
    metadata,
    *_place(),
    _bytes("hash"),
    text_column("workspace"),
    whole_column("sealed_at"),
    _bytes("body"),
)
"""Where the streams of decisions stood, in the common stream: one head commits to all of them."""

payloads = Table(
    "payloads",
    metadata,
    *_place(),
    text_column("workspace"),
    _bytes("salt"),
    _bytes("answer"),
    _bytes("request"),
)

vectors = Table(
    "vectors",
    metadata,
    *_place(),
    text_column("workspace"),
    text_column("model_id"),
    _bytes("vector"),
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
    _bytes("hash"),
    PrimaryKeyConstraint("stream"),
)

meta = Table(
    "meta",
    metadata,
    text_column("name"),
    _bytes("value"),
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
}
"""The ledger tables by the kind of their rows."""

APPEND_ONLY: tuple[Table, ...] = (*CHAINED.values(), consumptions)
"""Tables whose rows are never updated or deleted; the database itself refuses it."""
