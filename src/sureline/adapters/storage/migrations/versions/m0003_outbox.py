"""The outbox: what is to be told, to whom, and how far that is; and what came in from elsewhere.

Revision: 0003. A released migration is never edited; `outbox_rows.py` and `inbound_rows.py` say
how things are now.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from sureline.adapters.storage.text_type import TEXT

revision = "0003"
down_revision: str | None = "0002"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Create the outbox, empty: what was opened before is told when it goes a step up."""
    op.create_table(
        "notices",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("kind", TEXT, nullable=False),
        sa.Column("slice_key", TEXT, nullable=False),
        sa.Column("review_id", TEXT, nullable=False),
        sa.Column("decision_id", TEXT, nullable=False),
        sa.Column("submitted_by", TEXT),
        sa.Column("action", TEXT),
        sa.Column("level", sa.Integer, nullable=False),
        sa.Column("at", sa.BigInteger, nullable=False),
        sa.Column("facts", TEXT, nullable=False),
        sa.Column("spread_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_notices"),
    )
    is_new = sa.text("spread_at IS NULL")
    op.create_index(
        "ix_notices_new",
        "notices",
        ["workspace", "at", "id"],
        sqlite_where=is_new,
        postgresql_where=is_new,
    )
    op.create_index("ix_notices_spread", "notices", ["workspace", "spread_at"])
    op.create_table(
        "deliveries",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("notice_id", TEXT, nullable=False),
        sa.Column("channel", TEXT, nullable=False),
        sa.Column("state", TEXT, nullable=False),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("created_at", sa.BigInteger, nullable=False),
        sa.Column("due_at", sa.BigInteger, nullable=False),
        sa.Column("finished_at", sa.BigInteger),
        sa.Column("said", TEXT),
        sa.Column("held_by", TEXT),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_deliveries"),
    )
    waits = sa.text("state = 'waiting'")
    op.create_index(
        "ix_deliveries_due",
        "deliveries",
        ["workspace", "channel", "due_at"],
        sqlite_where=waits,
        postgresql_where=waits,
    )
    op.create_index("ix_deliveries_listed", "deliveries", ["workspace", "state", "created_at"])
    op.create_index("ix_deliveries_notice", "deliveries", ["workspace", "notice_id"])
    held = sa.text("held_by IS NOT NULL")
    op.create_index(
        "ix_deliveries_held", "deliveries", ["held_by"], sqlite_where=held, postgresql_where=held
    )
    op.create_table(
        "channels",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("name", TEXT, nullable=False),
        sa.Column("used_until", sa.BigInteger),
        sa.Column("closed_for", TEXT),
        sa.PrimaryKeyConstraint("workspace", "name", name="pk_channels"),
    )
    op.create_table(
        "arrivals",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("source", TEXT, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("digest", sa.LargeBinary, nullable=False),
        sa.Column("since", sa.BigInteger, nullable=False),
        sa.Column("lease_until", sa.BigInteger, nullable=False),
        sa.Column("acted", sa.Integer, nullable=False),
        sa.Column("status", sa.Integer),
        sa.Column("reply", sa.LargeBinary),
        sa.PrimaryKeyConstraint("workspace", "source", "id", name="pk_arrivals"),
    )
    op.create_index("ix_arrivals_digest", "arrivals", ["workspace", "source", "digest"])
    op.create_index("ix_arrivals_since", "arrivals", ["workspace", "since"])

    _create_incidents()
    _create_recalls()


def _create_incidents() -> None:
    op.create_table(
        "incidents",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("decision_id", TEXT, nullable=False),
        sa.Column("slice_key", TEXT, nullable=False),
        sa.Column("outcome_id", TEXT, nullable=False),
        sa.Column("opened_mark", sa.BigInteger, nullable=False),
        sa.Column("opened_at", sa.BigInteger, nullable=False),
        sa.Column("source", TEXT, nullable=False),
        sa.Column("certificate", TEXT),
        sa.Column("policy", TEXT, nullable=False),
        sa.Column("models", TEXT, nullable=False),
        sa.Column("stands", sa.Integer, nullable=False),
        sa.Column("closed_mark", sa.BigInteger),
        sa.Column("closed_at", sa.BigInteger),
        sa.Column("closed_by", TEXT),
        sa.Column("note", TEXT),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_incidents"),
    )
    op.create_index("ix_incidents_listed", "incidents", ["workspace", "opened_mark"])
    op.create_index("ix_incidents_decision", "incidents", ["workspace", "decision_id"])


def _create_recalls() -> None:
    op.create_table(
        "recalls",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("id", TEXT, nullable=False),
        sa.Column("wanted", TEXT, nullable=False),
        sa.Column("reason", TEXT, nullable=False),
        sa.Column("by", TEXT, nullable=False),
        sa.Column("started_at", sa.BigInteger, nullable=False),
        sa.Column("until_mark", sa.BigInteger, nullable=False),
        sa.Column("done_mark", sa.BigInteger, nullable=False),
        sa.Column("recalled", sa.BigInteger, nullable=False),
        sa.Column("queued", sa.BigInteger, nullable=False),
        sa.Column("used", sa.BigInteger, nullable=False),
        sa.Column("finished_at", sa.BigInteger),
        sa.PrimaryKeyConstraint("workspace", "id", name="pk_recalls"),
    )
    op.create_table(
        "recalled",
        sa.Column("workspace", TEXT, nullable=False),
        sa.Column("decision_id", TEXT, nullable=False),
        sa.Column("recall_id", TEXT, nullable=False),
        sa.Column("review_id", TEXT),
        sa.PrimaryKeyConstraint("workspace", "decision_id", name="pk_recalled"),
    )


def downgrade() -> None:
    """Refuse: what was not told yet would be lost."""
    raise NotImplementedError("the outbox cannot be taken back; restore a backup instead")
