"""The first tables: the ledger, what lies apart from it, what follows from it, and access.

Revision: 0001. A released migration is never edited; `tables.py` says how things are now.
"""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from sureline.adapters.storage.text_type import TEXT

revision = "0001"
down_revision: str | None = None
branch_labels: str | None = None
depends_on: str | None = None

_TYPES: dict[str, sa.types.TypeEngine[Any]] = {
    "text": TEXT,
    "bigint": sa.BigInteger(),
    "integer": sa.Integer(),
    "float": sa.Float(),
    "bytes": sa.LargeBinary(),
}

_APPEND_ONLY = (
    "decisions",
    "outcomes",
    "switches",
    "activations",
    "policies",
    "calibrations",
    "canary_runs",
    "erasures",
    "consumptions",
)


def _table(
    name: str,
    columns: str,
    *,
    key: tuple[str, ...],
    unique: tuple[str, ...] = (),
    by_key: bool = False,
) -> None:
    """Create a table from `name type, ...`; a question mark admits null.

    `by_key` keeps the rows in the key's index on SQLite, so that reading by it looks nowhere else.
    """
    parts: list[sa.schema.SchemaItem] = []
    for column in columns.split(", "):
        column_name, kind = column.split(" ")
        parts.append(sa.Column(column_name, _TYPES[kind.rstrip("?")], nullable=kind.endswith("?")))
    parts.append(sa.PrimaryKeyConstraint(*key, name=f"pk_{name}"))
    if unique:
        parts.append(sa.UniqueConstraint(*unique, name=f"uq_{name}_{'_'.join(unique)}"))
    op.create_table(name, *parts, sqlite_with_rowid=not by_key)


def upgrade() -> None:
    """Create everything."""
    _create_ledger()
    _create_what_lies_apart()
    _create_what_follows()
    _create_access()
    _create_state()
    _create_indexes()
    if op.get_bind().dialect.name == "sqlite":
        _refuse_changes()


def downgrade() -> None:
    """Refuse: dropping a ledger is nobody's wish."""
    raise NotImplementedError("the first tables cannot be taken back; remove the file instead")


def _create_ledger() -> None:
    _table(
        "decisions",
        "stream text, seq bigint, hash bytes, workspace text, id text, slice_key text, "
        "route text, would_route text?, mode text, score float?, score_bin integer?, "
        "audit integer, failed integer, submitted_by text?, propensity float, attempt integer, "
        "stratum text, policy_hash text, "
        "measurement_hash text, batch_id text?, content_digest bytes, task_digest bytes, "
        "created_at bigint, vector_digest bytes?, payload_digest bytes, body bytes",
        key=("stream", "seq"),
        unique=("workspace", "id"),
    )
    _table(
        "outcomes",
        "stream text, seq bigint, hash bytes, workspace text, id text, decision_id text, "
        "action text, correct integer?, source text, by text, anchored integer, "
        "recorded_at bigint, edited_fields text, content text?, payload_digest bytes?",
        key=("stream", "seq"),
        unique=("workspace", "id"),
    )
    _table(
        "switches",
        "stream text, seq bigint, hash bytes, workspace text, scope text, on integer, "
        "reason text, by text, changed_at bigint",
        key=("stream", "seq"),
    )
    _table(
        "activations",
        "stream text, seq bigint, hash bytes, workspace text, subject_kind text, subject text, "
        "by text, at bigint, note text, share float",
        key=("stream", "seq"),
    )
    _table(
        "policies",
        "stream text, seq bigint, hash bytes, workspace text, policy_hash text, "
        "proposed_at bigint, body bytes",
        key=("stream", "seq"),
        unique=("policy_hash",),
    )
    _table(
        "calibrations",
        "stream text, seq bigint, hash bytes, workspace text, id text, created_at bigint, "
        "body bytes",
        key=("stream", "seq"),
        unique=("id",),
    )
    _table(
        "canary_runs",
        "stream text, seq bigint, hash bytes, workspace text, id text, role text, asked text, "
        "identity text, outcome text, ran_at bigint, body bytes",
        key=("stream", "seq"),
        unique=("id",),
    )
    _table(
        "erasures",
        "stream text, seq bigint, hash bytes, workspace text, slice_key text, "
        "decision_id text, by text, reason text, erased_at bigint, body bytes",
        key=("stream", "seq"),
    )


def _create_what_lies_apart() -> None:
    _table(
        "payloads",
        "stream text, seq bigint, workspace text, salt bytes, answer bytes, request bytes",
        key=("stream", "seq"),
    )
    _table(
        "vectors",
        "stream text, seq bigint, workspace text, model_id text, vector bytes",
        key=("stream", "seq"),
    )
    _table(
        "remade_vectors",
        "stream text, seq bigint, model_id text, workspace text, digest bytes, vector bytes",
        key=("stream", "seq", "model_id"),
    )


def _create_what_follows() -> None:
    _table(
        "consumptions",
        "workspace text, decision_id text, consumed_at bigint",
        key=("workspace", "decision_id"),
    )
    _table(
        "heads",
        "stream text, seq bigint, hash bytes",
        key=("stream",),
    )
    _table(
        "labels",
        "workspace text, decision_id text, stream text, seq bigint, stratum text, "
        "correct integer, mark bigint",
        key=("workspace", "decision_id"),
    )
    _table(
        "label_counts",
        "workspace text, slice_key text, measurement_hash text, week integer, "
        "score_bin integer, stratum text, correct integer, stream text, count bigint",
        key=(
            "workspace",
            "slice_key",
            "measurement_hash",
            "week",
            "score_bin",
            "stratum",
            "correct",
            "stream",
        ),
        by_key=True,
    )
    _table(
        "route_counts",
        "workspace text, slice_key text, day integer, route text, stream text, count bigint",
        key=("workspace", "slice_key", "day", "route", "stream"),
    )
    _table(
        "score_counts",
        "workspace text, slice_key text, measurement_hash text, week integer, "
        "score_bin integer, stream text, count bigint",
        key=("workspace", "slice_key", "measurement_hash", "week", "score_bin", "stream"),
        by_key=True,
    )
    _table(
        "opinion_counts",
        "workspace text, slice_key text, day integer, signal text, asked text, answered text, "
        "end text, reason text, duration integer, stream text, count bigint, value bigint, "
        "valued bigint, cost bigint, costed bigint, ms bigint, timed bigint, "
        "input_tokens bigint, output_tokens bigint, metered bigint, calls bigint, "
        "retries bigint, cached bigint",
        key=(
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
        by_key=True,
    )


def _create_access() -> None:
    _table(
        "api_keys",
        "id text, workspace text, name text, role text, slices text, secret_hash bytes, "
        "created_at bigint, trusted_sources integer, revoked_at bigint?",
        key=("id",),
        unique=("secret_hash",),
    )
    _table(
        "ended_sessions",
        "workspace text, session text, until bigint",
        key=("workspace", "session"),
    )
    op.create_index("ix_ended_sessions_until", "ended_sessions", ["workspace", "until"])
    _table(
        "meta",
        "name text, value bytes",
        key=("name",),
    )


def _create_state() -> None:
    _table(
        "jobs",
        "workspace text, name text, due_at bigint, leased_until bigint?, owner text?, "
        "started_at bigint?, finished_at bigint?, failures integer, message text?",
        key=("workspace", "name"),
    )


def _create_indexes() -> None:
    failed = sa.text("failed = 1")
    op.create_index(
        "ix_decisions_failed",
        "decisions",
        ["workspace", "slice_key", "task_digest", "created_at"],
        sqlite_where=failed,
        postgresql_where=failed,
    )
    audited = sa.text("audit = 1")
    op.create_index(
        "ix_decisions_audited",
        "decisions",
        ["workspace", "slice_key", "created_at", "seq"],
        sqlite_where=audited,
        postgresql_where=audited,
    )
    op.create_index("ix_erasures_decision", "erasures", ["workspace", "decision_id"])
    op.create_index("ix_outcomes_decision", "outcomes", ["workspace", "decision_id"])
    op.create_index("ix_switches_scope", "switches", ["workspace", "scope", "seq"])
    op.create_index("ix_activations_kind", "activations", ["workspace", "subject_kind", "seq"])
    op.create_index("ix_labels_mark", "labels", ["mark"])


def _refuse_changes() -> None:
    """Make the database itself refuse to change or delete rows of append-only tables."""
    for table in _APPEND_ONLY:
        for act in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER {table}_no_{act.lower()} BEFORE {act} ON {table} "
                f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
            )
