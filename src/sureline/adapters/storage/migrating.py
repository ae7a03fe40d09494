"""Runs Alembic inside a transaction that is already open.

Alembic is imported only when something is to be created or upgraded, because it costs more than
opening the store.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sureline.errors import StoreTooNew, StoreTooOld, StoreUnavailable

if TYPE_CHECKING:
    from sqlalchemy import Connection

_MIGRATIONS = Path(__file__).parent / "migrations"


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    """Whether opening may `create` tables where there are none, and `upgrade` older ones."""

    create: bool
    upgrade: bool

    def check(self, where: str, found: str | None, needed: str) -> None:
        """Refuse tables of revision `found`, None: no tables. Raises StoreError."""
        if found is None and not self.create:
            raise StoreUnavailable(f"{where}: there is no store; look for a typing error")
        if found is not None and not self.upgrade:
            check_revision(where, found, needed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A store's secret, and the revision `before` where this opening made or upgraded its tables.

    `before` is None for tables that were made, if `migrated`.
    """

    secret: bytes
    migrated: bool = False
    before: str | None = None


def check_revision(where: str, found: str, needed: str) -> None:
    """Raise StoreTooNew or StoreTooOld unless a store's revision is the one that is needed."""
    if found == needed:
        return
    if found not in known_revisions():
        raise StoreTooNew(
            f"{where} has schema {found}, but this sureline knows only {needed}: "
            f"install the newer sureline; nothing was written"
        )
    raise StoreTooOld(
        f"{where} has schema {found}, this sureline needs {needed}: run `sureline store upgrade`"
    )


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
