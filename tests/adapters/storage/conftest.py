"""A store in a file, one in memory and one on PostgreSQL: all keep the same contract."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sureline.adapters.storage.store import Store, open_store
from tests.disks import tiny_disk as tiny_disk
from tests.postgres import Postgres
from tests.postgres import postgres as postgres


@pytest.fixture(params=["file", "memory", "postgres"])
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Name a fresh store of each kind."""
    if request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres")
        return server.database()
    return "sqlite://" if request.param == "memory" else f"sqlite:///{tmp_path / 'store.db'}"


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """Open a fresh store."""
    opened = open_store(store_url)
    yield opened
    opened.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Name a store's file that does not exist yet."""
    return tmp_path / "store.db"


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """Make a folder that other users can enter, unlike pytest's."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
