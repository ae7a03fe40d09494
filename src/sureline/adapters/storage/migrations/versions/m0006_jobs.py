"""Jobs that workers share on PostgreSQL.

Revision: 0006. A released migration is never edited; `tables.py` says how things are now.
"""

from __future__ import annotations

revision = "0006"
down_revision: str | None = "0005"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Change nothing yet."""


def downgrade() -> None:
    """Change nothing yet."""
