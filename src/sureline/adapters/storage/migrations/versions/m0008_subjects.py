"""Whom a proposal is about, so that it can be erased.

Revision: 0008. A released migration is never edited; `tables.py` says how things are now.
"""

from __future__ import annotations

revision = "0008"
down_revision: str | None = "0007"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Change nothing yet."""


def downgrade() -> None:
    """Change nothing yet."""
