"""Missions, and what happened to them.

Revision: 0009. A released migration is never edited; `tables.py` says how things are now.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from sureline.adapters.storage.text_type import TEXT

revision = "0009"
down_revision: str | None = "0008"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Create both tables; the timeline is part of the ledger, so nothing in it is changed."""
    _create_events()
    _create_missions()


def downgrade() -> None:
    """Refuse: the timeline is part of the chain."""
    raise NotImplementedError("what happened to missions cannot be taken back")


def _create_events() -> None:
    op.create_table(
        "mission_events",
        sa.Column("stream", TEXT, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.LargeBinary, nullable=False),
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("mission_id", TEXT, nullable=False),
        sa.Column("event", TEXT, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("cause", TEXT, nullable=False),
        sa.Column("invocation", sa.BigInteger, nullable=False),
        sa.Column("by", TEXT),
        sa.Column("decision_id", TEXT),
        sa.Column("facts", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("stream", "seq", name="pk_mission_events"),
    )
    op.create_index(
        "ix_mission_events_mission", "mission_events", ["workspace", "mission_id", "seq"]
    )
    if op.get_bind().dialect.name != "sqlite":
        op.execute(
            "CREATE TRIGGER mission_events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE "
            "ON mission_events FOR EACH STATEMENT EXECUTE FUNCTION sureline_append_only()"
        )
        return
    for act in ("UPDATE", "DELETE"):
        op.execute(
            f"CREATE TRIGGER mission_events_no_{act.lower()} BEFORE {act} ON mission_events "
            f"BEGIN SELECT RAISE(ABORT, 'mission_events is append-only'); END"
        )


def _create_missions() -> None:
    op.create_table(
        "missions",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("cause", TEXT, nullable=False),
        sa.Column("submitted_by", TEXT),
        sa.Column("subject", sa.LargeBinary),
        sa.Column("last_decision", TEXT),
        sa.Column("waits", sa.Integer, nullable=False),
        sa.Column("timer_at", sa.BigInteger),
        sa.Column("updated_at", sa.BigInteger, nullable=False),
        sa.Column("ended_at", sa.BigInteger),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("words", sa.LargeBinary),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_missions"),
    )
    op.create_index(
        "ix_missions_listed",
        "missions",
        ["workspace", sa.text("waits DESC"), sa.text("updated_at DESC"), "id"],
    )
    op.create_index("ix_missions_state", "missions", ["workspace", "kind", "state"])
    for name, columns, where in (
        ("timer", ["workspace", "timer_at", "id"], "timer_at IS NOT NULL"),
        ("subject", ["workspace", "subject", "id"], "subject IS NOT NULL"),
        ("judged", ["workspace", "last_decision"], "last_decision IS NOT NULL"),
        ("over", ["workspace", "kind", "id"], "words IS NOT NULL AND ended_at IS NOT NULL"),
    ):
        op.create_index(
            f"ix_missions_{name}",
            "missions",
            columns,
            sqlite_where=sa.text(where),
            postgresql_where=sa.text(where),
        )
