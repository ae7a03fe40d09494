"""Past cases beyond the window, for pgvector.

Revision: 0007. A released migration is never edited; `tables.py` says how things are now.
"""

from __future__ import annotations

revision = "0007"
down_revision: str | None = "0006"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Change nothing yet."""


def downgrade() -> None:
    """Change nothing yet."""
