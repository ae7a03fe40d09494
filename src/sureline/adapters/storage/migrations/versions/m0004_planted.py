"""What is planted in the queue to see whether people look.

Revision: 0004. A released migration is never edited; `planted_rows.py` says how things are now.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from sureline.adapters.storage.text_type import TEXT

revision = "0004"
down_revision: str | None = "0003"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Create the tables, empty: nothing that was opened before gets company."""
    op.create_table(
        "planted",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("review_id", TEXT, nullable=False),
        sa.Column("purpose", TEXT, nullable=False),
        sa.Column("source_id", TEXT, nullable=False),
        sa.Column("origin", TEXT, nullable=False),
        sa.Column("trigger", TEXT, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.Column("answer", sa.LargeBinary),
        sa.Column("first_by", TEXT),
        sa.Column("first_correct", sa.Integer),
        sa.PrimaryKeyConstraint("workspace", "review_id", name="pk_planted"),
        sa.UniqueConstraint("workspace", "trigger", name="uq_planted_workspace_trigger"),
    )
    op.create_index("ix_planted_source", "planted", ["workspace", "source_id"])
    op.create_table(
        "planted_answers",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("review_id", TEXT, nullable=False),
        sa.Column("by", TEXT, nullable=False),
        sa.Column("slice_key", TEXT, nullable=False),
        sa.Column("purpose", TEXT, nullable=False),
        sa.Column("correct", sa.Integer, nullable=False),
        sa.Column("seconds", sa.Float),
        sa.Column("answered_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "review_id", "by", name="pk_planted_answers"),
    )
    op.create_index("ix_planted_answers_at", "planted_answers", ["workspace", "answered_at"])
    op.create_table(
        "own_answers",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("review_id", TEXT, nullable=False),
        sa.Column("by", TEXT, nullable=False),
        sa.Column("answer", TEXT, nullable=False),
        sa.Column("answered_at", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "review_id", "by", name="pk_own_answers"),
    )
    op.create_table(
        "planted_outcomes",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("review_id", TEXT, nullable=False),
        sa.Column("place", sa.BigInteger, nullable=False),
        sa.Column("body", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_planted_outcomes"),
    )
    op.create_index("ix_planted_outcomes_review", "planted_outcomes", ["workspace", "review_id"])
    op.create_table(
        "planting",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("slice_key", TEXT, nullable=False),
        sa.Column("seen", sa.BigInteger, nullable=False),
        sa.Column("opened_at", sa.BigInteger, nullable=False),
        sa.Column("review_id", TEXT, nullable=False),
        sa.Column("why", TEXT, nullable=False),
        sa.Column("tried", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "slice_key", name="pk_planting"),
    )
    op.create_table(
        "planting_owed",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("slice_key", TEXT, nullable=False),
        sa.Column("review_id", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "slice_key", "review_id", name="pk_planting_owed"),
    )
    op.create_table(
        "review_follow_ups",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("review_id", TEXT, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "review_id", name="pk_review_follow_ups"),
    )


def downgrade() -> None:
    """Refuse: what was planted could no longer be told from what is real."""
    raise NotImplementedError("planted items cannot be taken back; restore a backup instead")
