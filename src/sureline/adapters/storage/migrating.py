"""Runs Alembic inside a transaction that is already open.

Alembic is imported only when something is to be created or upgraded, because it costs more than
opening the store.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

_MIGRATIONS = Path(__file__).parent / "migrations"


def known_revisions() -> set[str]:
    """Return the revisions that this version can upgrade from."""
    from alembic.script import ScriptDirectory

    return {script.revision for script in ScriptDirectory(_MIGRATIONS).walk_revisions()}


def migrate(migrating: Connection, *, to: str = "head") -> None:
    """Upgrade to a revision inside the transaction that is open on this connection."""
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory(_MIGRATIONS)
    with EnvironmentContext(
        Config(),
        scripts,
        fn=lambda revision, _: scripts._upgrade_revs(to, revision),
    ) as environment:
        environment.configure(connection=migrating, render_as_batch=True)
        environment.run_migrations()
