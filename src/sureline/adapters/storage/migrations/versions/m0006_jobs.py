"""The job server's tables on PostgreSQL.

They are procrastinate's own, as the installed version makes them; which version that was is kept,
so that workers of another one are told. A file needs none of it.

Revision: 0006. A released migration is never edited; `tables.py` says how things are now.
"""

from __future__ import annotations

from alembic import op

revision = "0006"
down_revision: str | None = "0005"
branch_labels: str | None = None
depends_on: str | None = None


def upgrade() -> None:
    """Install what procrastinate brings, on PostgreSQL."""
    if op.get_bind().dialect.name == "sqlite":
        return
    from sureline.adapters.storage.job_tables import install

    install(op.get_bind().connection.driver_connection)  # type: ignore[arg-type]


def downgrade() -> None:
    """Refuse: what is waiting there would be lost."""
    raise NotImplementedError("the job server's tables cannot be taken back")
