"""The tables of the store, in SQLAlchemy Core, for every database.

Ledger tables are append-only and chained: each row has its place (`stream`, `seq`) and `hash`.
`seq` runs through all ledger tables of a stream. What quotes a payload lies apart, in `payloads`
and `vectors`, under the same (stream, seq), so that it can be erased. `labels`, `label_counts`
and `route_counts` are derived and can be rebuilt from the ledger.

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
    Text,
    UniqueConstraint,
    text,
)

SCHEMA_REVISION = "0001"
"""The revision of the tables below; `migrations/versions` must end with it."""

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)


def _text(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, Text, nullable=null)


def _whole(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, BigInteger, nullable=null)


def _bytes(name: str, *, null: bool = False) -> Column[Any]:
    return Column(name, LargeBinary, nullable=null)


def _place() -> tuple[Column[Any], Column[Any], PrimaryKeyConstraint]:
    return _text("stream"), _whole("seq"), PrimaryKeyConstraint("stream", "seq")


decisions = Table(
    "decisions",
    metadata,
    *_place(),
    _bytes("hash"),
    _text("workspace"),
    _text("id"),
    _text("slice_key"),
    _text("route"),
    _text("would_route", null=True),
    _text("mode"),
    Column("score", Float, nullable=True),
    Column("score_bin", Integer, nullable=True),
    Column("audit", Integer, nullable=False),
    Column("propensity", Float, nullable=False),
    Column("attempt", Integer, nullable=False),
    _text("stratum"),
    _text("policy_hash"),
    _text("measurement_hash"),
    _text("batch_id", null=True),
    _bytes("content_digest"),
    _bytes("task_digest"),
    _whole("created_at"),
    _bytes("payload_digest"),
    _bytes("body"),
    UniqueConstraint("workspace", "id"),
)

Index(
    "ix_decisions_rejected",
    decisions.c.workspace,
    decisions.c.slice_key,
    decisions.c.task_digest,
    sqlite_where=text("route = 'auto_reject'"),
    postgresql_where=text("route = 'auto_reject'"),
)

Index(
    "ix_decisions_audited",
    decisions.c.workspace,
    decisions.c.slice_key,
    decisions.c.seq,
    sqlite_where=text("audit = 1"),
    postgresql_where=text("audit = 1"),
)

outcomes = Table(
    "outcomes",
    metadata,
    *_place(),
    _bytes("hash"),
    _text("workspace"),
    _text("id"),
    _text("decision_id"),
    _text("action"),
    Column("correct", Integer, nullable=True),
    _text("source"),
    _text("by"),
    Column("anchored", Integer, nullable=False),
    _whole("recorded_at"),
    _text("edited_fields"),
    _bytes("payload_digest", null=True),
    UniqueConstraint("workspace", "id"),
)

Index("ix_outcomes_decision", outcomes.c.workspace, outcomes.c.decision_id)

switches = Table(
    "switches",
    metadata,
    *_place(),
    _bytes("hash"),
    _text("workspace"),
    _text("scope"),
    Column("on", Integer, nullable=False),
    _text("reason"),
    _text("by"),
    _whole("changed_at"),
)

Index("ix_switches_scope", switches.c.workspace, switches.c.scope, switches.c.seq)

activations = Table(
    "activations",
    metadata,
    *_place(),
    _bytes("hash"),
    _text("workspace"),
    _text("subject_kind"),
    _text("subject"),
    _text("by"),
    _whole("at"),
    _text("note"),
)

Index("ix_activations_kind", activations.c.workspace, activations.c.subject_kind, activations.c.seq)

policies = Table(
    "policies",
    metadata,
    *_place(),
    _bytes("hash"),
    _text("workspace"),
    _text("policy_hash"),
    _whole("proposed_at"),
    _bytes("body"),
    UniqueConstraint("policy_hash"),
)

calibrations = Table(
    "calibrations",
    metadata,
    *_place(),
    _bytes("hash"),
    _text("workspace"),
    _text("id"),
    _whole("created_at"),
    _bytes("body"),
    UniqueConstraint("id"),
)

erasures = Table(
    "erasures",
    metadata,
    *_place(),
    _bytes("hash"),
    _text("workspace"),
    _text("slice_key"),
    _text("decision_id"),
    _text("by"),
    _text("reason"),
    _whole("erased_at"),
    _bytes("body"),
)

payloads = Table(
    "payloads",
    metadata,
    *_place(),
    _text("workspace"),
    _bytes("salt"),
    _bytes("answer"),
    _bytes("request"),
)

vectors = Table(
    "vectors",
    metadata,
    *_place(),
    _text("workspace"),
    _text("model_id"),
    _bytes("vector"),
)

consumptions = Table(
    "consumptions",
    metadata,
    _text("workspace"),
    _text("decision_id"),
    _whole("consumed_at"),
    PrimaryKeyConstraint("workspace", "decision_id"),
)

heads = Table(
    "heads",
    metadata,
    _text("stream"),
    _whole("seq"),
    _bytes("hash"),
    PrimaryKeyConstraint("stream"),
)

labels = Table(
    "labels",
    metadata,
    _text("workspace"),
    _text("decision_id"),
    _text("stream"),
    _whole("seq"),
    _text("stratum"),
    Column("correct", Integer, nullable=False),
    _whole("mark"),
    PrimaryKeyConstraint("workspace", "decision_id"),
)

Index("ix_labels_mark", labels.c.mark)

label_counts = Table(
    "label_counts",
    metadata,
    _text("workspace"),
    _text("slice_key"),
    _text("measurement_hash"),
    Column("week", Integer, nullable=False),
    Column("score_bin", Integer, nullable=False),
    _text("stratum"),
    Column("correct", Integer, nullable=False),
    _text("stream"),
    _whole("count"),
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
)

route_counts = Table(
    "route_counts",
    metadata,
    _text("workspace"),
    _text("slice_key"),
    Column("day", Integer, nullable=False),
    _text("route"),
    _text("stream"),
    _whole("count"),
    PrimaryKeyConstraint("workspace", "slice_key", "day", "route", "stream"),
)

score_counts = Table(
    "score_counts",
    metadata,
    _text("workspace"),
    _text("slice_key"),
    _text("measurement_hash"),
    Column("week", Integer, nullable=False),
    Column("score_bin", Integer, nullable=False),
    _text("stream"),
    _whole("count"),
    PrimaryKeyConstraint(
        "workspace", "slice_key", "measurement_hash", "week", "score_bin", "stream"
    ),
)

api_keys = Table(
    "api_keys",
    metadata,
    _text("id"),
    _text("workspace"),
    _text("name"),
    _text("role"),
    _text("slices"),
    _bytes("secret_hash"),
    _whole("created_at"),
    Column("trusted_sources", Integer, nullable=False),
    _whole("revoked_at", null=True),
    PrimaryKeyConstraint("id"),
    UniqueConstraint("secret_hash"),
)

meta = Table(
    "meta",
    metadata,
    _text("name"),
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
    "erasure": erasures,
}
"""The ledger tables by the kind of their rows."""

APPEND_ONLY: tuple[Table, ...] = (*CHAINED.values(), consumptions)
"""Tables whose rows are never updated or deleted; the database itself refuses it."""
