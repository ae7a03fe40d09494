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


_WAKE = """
CREATE FUNCTION sureline_wake(task text, queues text[]) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO procrastinate_jobs (queue_name, task_name, queueing_lock)
    SELECT queue, task, queue FROM unnest(queues) AS queue ORDER BY queue
    ON CONFLICT (queueing_lock) WHERE status = 'todo' DO NOTHING;
    RETURN true;
EXCEPTION WHEN OTHERS THEN
    RETURN false;
END;
$$
"""
"""One round trip, and a savepoint around it: what goes wrong here must not fail decisions."""


def upgrade() -> None:
    """Install what procrastinate brings, on PostgreSQL, and what wakes its workers."""
    if op.get_bind().dialect.name == "sqlite":
        return
    from sureline.adapters.storage.job_tables import install

    install(op.get_bind().connection.driver_connection)  # type: ignore[arg-type]
    op.execute(_WAKE)


def downgrade() -> None:
    """Refuse: what is waiting there would be lost."""
    raise NotImplementedError("the job server's tables cannot be taken back")
