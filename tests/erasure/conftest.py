"""A filled store of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.erasure.marked import Marked
from tests.postgres import Postgres
from tests.postgres import postgres as postgres


@pytest.fixture(params=["file", "memory", "postgres"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Marked]:
    """Open a fresh store of each kind."""
    if request.param == "postgres":
        server: Postgres = request.getfixturevalue("postgres")
        url = server.database()
    else:
        url = "sqlite://" if request.param == "memory" else f"sqlite:///{tmp_path / 'store.db'}"
    opened = Marked(url)
    yield opened
    opened.close()
