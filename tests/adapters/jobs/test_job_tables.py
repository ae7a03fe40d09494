"""The job server's tables are those of the installed version, or it is said what to do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sureline.adapters.storage import job_tables
from sureline.adapters.storage.postgres_driver import Connection, connect
from sureline.adapters.storage.tables import SCHEMA_REVISION
from sureline.errors import StoreError, StoreTooNew


@pytest.fixture
def connection(shared: str) -> Iterator[Connection]:
    """Connect to a store."""
    opened = connect(shared, patience=5.0)
    yield opened
    job_tables._remember(opened, job_tables.newest_version())
    opened.close()


def test_a_store_has_the_installed_version_s_tables(connection: Connection) -> None:
    """The migration made them, and wrote down which."""
    job_tables.check(connection, "here")
    job_tables.upgrade(connection)
    assert job_tables._known(connection) == job_tables.newest_version()


@pytest.mark.parametrize(
    ("known", "error", "said"),
    [
        pytest.param("99.00.00_01_x.sql", StoreTooNew, "knows only", id="later"),
        pytest.param("03.00.00_01_x.sql", StoreError, "store upgrade", id="older"),
    ],
)
def test_a_worker_of_another_version_is_told(
    connection: Connection, known: str, error: type[StoreError], said: str
) -> None:
    """It does not touch tables that it does not know."""
    job_tables._remember(connection, known)
    with pytest.raises(error, match=f"a worker of another version.*{said}"):
        job_tables.check(connection, "here")


def test_a_store_of_a_later_sureline_is_told_of(connection: Connection) -> None:
    """A worker that went on while the store was upgraded stops."""
    before = connection.execute("UPDATE alembic_version SET version_num = '9999'")
    assert before.rowcount == 1
    try:
        with pytest.raises(StoreTooNew, match="has schema 9999"):
            job_tables.check(connection, "here")
    finally:
        connection.execute("UPDATE alembic_version SET version_num = %s", (SCHEMA_REVISION,))


def test_older_tables_are_brought_up(connection: Connection) -> None:
    """The package's own migrations are run from where the tables stand."""
    job_tables._remember(connection, "03.04.00_01_pre_add_retry_failed_job_procedure.sql")
    connection.execute(
        "DROP TRIGGER procrastinate_trigger_status_events_update_v1 ON procrastinate_jobs"
    )
    job_tables.upgrade(connection)
    job_tables.check(connection, "here")
    found = connection.execute(
        "SELECT count(*) FROM pg_trigger "
        "WHERE tgname = 'procrastinate_trigger_status_events_update_v1'"
    )
    assert found.fetchone() == (1,)
