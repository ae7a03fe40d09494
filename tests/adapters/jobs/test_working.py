"""What runs beside a server: threads on a file, one worker on PostgreSQL, or only deadlines."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from sureline.bootstrap import open_services, working

DEADLINES, JOBS, OUTBOX, WORKER = "queue", "jobs", "outbox", "worker"


@pytest.mark.parametrize(
    ("on_postgres", "jobs", "deliver", "running"),
    [
        pytest.param(False, True, True, {DEADLINES, JOBS, OUTBOX}, id="a file"),
        pytest.param(False, False, False, {DEADLINES}, id="a file, left to others"),
        pytest.param(True, True, True, {WORKER}, id="PostgreSQL"),
        pytest.param(True, False, True, {WORKER}, id="PostgreSQL, without jobs"),
        pytest.param(True, False, False, {DEADLINES}, id="PostgreSQL, left to others"),
    ],
)
def test_what_works_beside_a_server(
    on_postgres: bool,
    jobs: bool,
    deliver: bool,
    running: set[str],
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    """Deadlines are kept in any case, by one of them."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    services = open_services(request.getfixturevalue("shared") if on_postgres else url)
    with working(services, jobs=jobs, deliver=deliver):
        names = {thread.name.removeprefix("sureline-") for thread in threading.enumerate()}
    assert names & {DEADLINES, JOBS, OUTBOX, WORKER} == running
    services.close()
