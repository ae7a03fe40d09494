"""Copy one store into another, such as a laptop's file into a team's PostgreSQL."""

from __future__ import annotations

from dataclasses import dataclass

from sureline.adapters.storage.copy_store import CopyReport as CopyReport
from sureline.adapters.storage.copy_store import Progress, copy_store
from sureline.adapters.storage.store import Store, file_of, open_store
from sureline.adapters.storage.tables import SCHEMA_REVISION
from sureline.errors import InvalidInput


async def copy_between(source_url: str, target_url: str, *, progress: Progress) -> CopyReport:
    """Copy everything and verify it; the target must be empty.

    Raises InvalidInput for one store twice, Refused, StoreError.
    """
    if source_url == target_url:
        raise InvalidInput("expected two different stores", field="to")
    source = open_store(source_url, create=False, to_write=False)
    try:
        target = open_store(target_url)
        try:
            return await copy_store(source, target, progress=progress)
        finally:
            target.close()
    finally:
        source.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeReport:
    """What a store is called, and the revisions of its tables before and after.

    `before` is None where this made the tables. What another did meanwhile is no difference here.
    """

    store: str
    before: str | None
    after: str


def upgrade_store(url: str) -> UpgradeReport:
    """Bring a store to this version's tables, and tell what that changed.

    An empty database, or an empty file, gets all of them; a file that is not there is not made.
    Raises StoreError.
    """
    file = file_of(url)
    store = open_store(url, create=file is None or file.exists(), upgrade=True)
    try:
        if store.on_postgres:
            _upgrade_job_tables(store)
    finally:
        store.close()
    done = store.database.prepared
    before = done.before if done.migrated else SCHEMA_REVISION
    return UpgradeReport(store=store.database.where, before=before, after=SCHEMA_REVISION)


def _upgrade_job_tables(store: Store) -> None:
    """Bring the job server's tables to what is installed here."""
    from sureline.adapters.storage.job_tables import upgrade
    from sureline.adapters.storage.postgres_database import PostgresDatabase
    from sureline.adapters.storage.postgres_errors import translated

    assert isinstance(store.database, PostgresDatabase)
    with translated(store.database.where), store.database.connect() as connection:
        upgrade(connection)
