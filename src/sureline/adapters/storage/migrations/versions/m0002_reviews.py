"""The review queue.

Revision: 0002. A released migration is never edited; `review_rows.py` says how things are now.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from sureline.adapters.storage.text_type import TEXT

revision = "0002"
down_revision: str | None = "0001"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Create the queue, empty: what waited before can be answered as before."""
    op.create_table(
        "reviews",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("decision_id", TEXT, nullable=False),
        sa.Column("slice_key", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("open", sa.Integer, nullable=False),
        sa.Column("rank", sa.Integer, nullable=False),
        sa.Column("level", sa.Integer, nullable=False),
        sa.Column("stepped_at", sa.BigInteger),
        sa.Column("deadline", sa.BigInteger, nullable=False),
        sa.Column("uncertainty", sa.Float, nullable=False),
        sa.Column("due_at", sa.BigInteger),
        sa.Column("opened_at", sa.BigInteger, nullable=False),
        sa.Column("claimed_by", TEXT),
        sa.Column("claimed_at", sa.BigInteger),
        sa.Column("lease_until", sa.BigInteger),
        sa.Column("digest", TEXT, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
        sa.Column("submitted_by", TEXT),
        sa.Column("release_at", sa.BigInteger),
        sa.Column("released", sa.Integer, nullable=False),
        sa.Column("rules", TEXT, nullable=False),
        sa.Column("skipped_by", TEXT, nullable=False),
        sa.Column("given", sa.LargeBinary),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_reviews"),
    )
    is_open = sa.text("open = 1")
    order = (
        sa.text("level DESC"),
        sa.text("rank DESC"),
        "deadline",
        sa.text("uncertainty DESC"),
        "id",
    )
    slices = ("workspace", "slice_key", "kind")
    for name, columns in (
        ("ix_reviews_open", ("workspace", *order)),
        ("ix_reviews_open_slice", (*slices, *order)),
    ):
        op.create_index(name, "reviews", [*columns], sqlite_where=is_open, postgresql_where=is_open)
    is_held = sa.text("open = 1 AND claimed_by IS NOT NULL")
    op.create_index(
        "ix_reviews_held",
        "reviews",
        ["workspace", "claimed_by"],
        sqlite_where=is_held,
        postgresql_where=is_held,
    )
    op.create_index("ix_reviews_state", "reviews", [*slices, "state", "opened_at"])
    op.create_index("ix_reviews_over", "reviews", ["workspace", "open", "opened_at"])
    op.create_index("ix_reviews_due", "reviews", ["workspace", "due_at"])
    op.create_index("ix_reviews_decision", "reviews", ["workspace", "decision_id"])
    op.create_table(
        "queue_counts",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("slice_key", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("count", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "slice_key", "kind", "state", name="pk_queue_counts"),
    )
    op.create_table(
        "queue_days",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("day", sa.BigInteger, nullable=False),
        sa.Column("slice_key", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("flow", TEXT, nullable=False),
        sa.Column("waited", sa.Integer, nullable=False),
        sa.Column("count", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint(
            "workspace", "day", "slice_key", "kind", "flow", "waited", name="pk_queue_days"
        ),
    )
    op.create_table(
        "review_lines",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("slice_key", TEXT, nullable=False),
        sa.Column("task", TEXT, nullable=False),
        sa.Column("reasons", TEXT, nullable=False),
        sa.Column("found", TEXT, nullable=False),
        sa.Column("confidence", sa.Float),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_review_lines"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "saved_views",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("reviewer", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("filter", TEXT, nullable=False),
        sa.Column("opens", sa.Integer, nullable=False),
        sa.PrimaryKeyConstraint("workspace", "reviewer", "name", name="pk_saved_views"),
    )


def downgrade() -> None:
    """Refuse: what people decided is nobody's to drop."""
    raise NotImplementedError("the queue cannot be taken back; restore a backup instead")
