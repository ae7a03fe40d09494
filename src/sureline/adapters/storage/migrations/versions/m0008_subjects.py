"""Whom a proposal is about, so that it can be erased.

Revision: 0008. A released migration is never edited; `tables.py` says how things are now.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from sureline.adapters.storage.text_type import TEXT

revision = "0008"
down_revision: str | None = "0007"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Create the table of subjects; of what was decided before, nobody said whom it is about."""
    op.create_table(
        "subjects",
        sa.Column("stream", TEXT, nullable=False),
        sa.Column("seq", sa.BigInteger, nullable=False),
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("subject", sa.LargeBinary, nullable=False),
        sa.PrimaryKeyConstraint("stream", "seq", name="pk_subjects"),
    )
    op.create_index("ix_subjects_subject", "subjects", ["workspace", "subject", "stream", "seq"])


def downgrade() -> None:
    """Drop the table: it says nothing that the payloads do not."""
    op.drop_table("subjects")
