"""A store in a file and one in memory: both keep the same contract."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from sureline.adapters.storage.store import Store, open_store
from tests.disks import tiny_disk as tiny_disk


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """Open a fresh store."""
    opened = open_store(
        "sqlite://" if request.param == "memory" else f"sqlite:///{tmp_path / 'store.db'}"
    )
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
