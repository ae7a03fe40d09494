from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.web.served import Served, serve


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A running server on a store of its own."""
    with serve(tmp_path) as one:
        yield one


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A running server that the tests of a file share; they leave its switches and keys alone."""
    with serve(tmp_path_factory.mktemp("store")) as one:
        yield one
