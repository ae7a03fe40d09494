"""Seals, what is remembered of verifications, and what PostgreSQL does by itself.

Revision: 0005. A released migration is never edited; `tables.py` says how things are now.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from sureline.adapters.storage.text_type import TEXT

revision = "0005"
down_revision: str | None = "0004"
branch_labels: str | None = None
depends_on: str | None = None

_APPEND_ONLY = (
    "decisions",
    "outcomes",
    "switches",
    "activations",
    "policies",
    "calibrations",
    "canary_runs",
    "erasures",
    "seals",
    "consumptions",
)


def upgrade() -> None:
    """Create both tables, and let PostgreSQL refuse changes and tell of switches."""
    op.create_table(
        "seals",
        sa.Column("stream", TEXT, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("hash", sa.LargeBinary, nullable=False),
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("sealed_at", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("stream", "seq", name="pk_seals"),
    )
    op.create_table(
        "verifications",
        sa.Column("extent", TEXT, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("ok", sa.Integer, nullable=False),
        sa.Column("rows", sa.BigInteger, nullable=False),
        sa.Column("said", TEXT, nullable=False),
        sa.Column("held_at", sa.BigInteger),
        sa.Column("heads", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("extent", name="pk_verifications"),
    )
    if op.get_bind().dialect.name == "sqlite":
        for act in ("UPDATE", "DELETE"):
            op.execute(
                f"CREATE TRIGGER seals_no_{act.lower()} BEFORE {act} ON seals "
                f"BEGIN SELECT RAISE(ABORT, 'seals is append-only'); END"
            )
        return
    _refuse_changes()
    _tell_of_switches()


def downgrade() -> None:
    """Refuse: dropping what binds the ledger is nobody's wish."""
    raise NotImplementedError("seals cannot be taken back")


def _refuse_changes() -> None:
    op.execute(
        "CREATE FUNCTION sureline_append_only() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
    )
    for table in _APPEND_ONLY:
        op.execute(
            f"CREATE TRIGGER {table}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION sureline_append_only()"
        )


def _tell_of_switches() -> None:
    """Let whoever writes a switch wake those that follow them."""
    op.execute(
        "CREATE FUNCTION sureline_switched() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
        "PERFORM pg_notify('sureline_switches', ''); RETURN NULL; END $$"
    )
    op.execute(
        "CREATE TRIGGER switches_tell AFTER INSERT ON switches "
        "FOR EACH STATEMENT EXECUTE FUNCTION sureline_switched()"
    )
