"""`sureline worker` as a process: what it says, what it does, and how it ends."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sureline.adapters.storage.store import open_store
from sureline.cli.worker import told_to_stop
from tests.postgres import Postgres
from tests.postgres import postgres as postgres

COMMAND = [sys.executable, "-m", "sureline", "worker"]


@contextmanager
def started(store: str, *more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Start a worker; yield it with what it says once it works."""
    process = subprocess.Popen(
        [*COMMAND, "--store", store, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        yield process, next(line for line in process.stderr if line.startswith("working on "))
    finally:
        process.kill()
        process.communicate()


def store_url(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    if kind == "file":
        url = f"sqlite:///{tmp_path / 'store.db'}"
        open_store(url).close()
        return url
    server: Postgres = request.getfixturevalue("postgres")
    return server.database()


@pytest.mark.sqlite_file
@pytest.mark.parametrize(
    ("kind", "ending", "said"),
    [
        pytest.param("file", signal.SIGTERM, "store.db", id="a file"),
        pytest.param("postgres", signal.SIGINT, ", 2 at once", id="PostgreSQL"),
    ],
)
def test_it_works_until_it_is_told_to_stop(
    kind: str,
    ending: signal.Signals,
    said: str,
    tmp_path: Path,
    request: pytest.FixtureRequest,
) -> None:
    """It says what it does, ends with 0 and says so; there is no traceback."""
    url = store_url(kind, tmp_path, request)
    with started(url, "--concurrency", "2") as (process, line):
        assert said in line
        process.send_signal(ending)
        out, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert out == ""
    assert "Traceback" not in errors
    assert "stopping: what is under way is finished first\n" in errors
    assert errors.endswith("stopped\n")


@pytest.mark.parametrize(
    ("arguments", "exit_code", "said"),
    [
        pytest.param(["--concurrency", "0"], 2, "--concurrency", id="nothing at once"),
        pytest.param(["--store", "mysql://x"], 2, "expected sqlite", id="another database"),
        pytest.param(
            ["--store", "postgresql://127.0.0.1:1/none"], 3, "cannot be reached", id="nobody there"
        ),
        pytest.param(["--store", "sqlite:///none.db"], 3, "there is no store", id="no such file"),
    ],
)
def test_what_it_cannot_work_on(
    arguments: list[str], exit_code: int, said: str, tmp_path: Path
) -> None:
    """Bad input ends with 2, a store that is away at the start with 3; none is made."""
    ended = subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert list(tmp_path.iterdir()) == []
    assert ended.returncode == exit_code
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.sqlite_file
def test_a_worker_of_another_version_ends_at_once(postgres: Postgres) -> None:
    """It says what to do, and touches nothing."""
    import psycopg

    url = postgres.database()
    open_store(url).close()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("UPDATE meta SET value = '99.00' WHERE name = 'job_tables'")
    ended = subprocess.run(
        [*COMMAND, "--store", url], capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == 3
    assert "a worker of another version" in ended.stderr


@pytest.mark.sqlite_file
def test_a_worker_ends_when_the_tables_become_another_version_s(postgres: Postgres) -> None:
    """It sees so with its next heartbeat, says why, and the exit code tells it from a stop."""
    import psycopg

    url = postgres.database()
    with started(url) as (process, _):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("UPDATE alembic_version SET version_num = '0099'")
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 3
    assert "has schema 0099" in errors
    assert "goes on as soon as it can" not in errors
    assert "Traceback" not in errors


def test_a_signal_at_any_moment_is_heard() -> None:
    """What waits is woken by the first signal, also by one that came before it waited."""
    usual = signal.getsignal(signal.SIGTERM)
    with told_to_stop() as stop:
        signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) == usual  # the second acts as usual
        assert stop.get(timeout=5) is None
