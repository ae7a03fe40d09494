"""Opens a store: the ledger, the registry and the keys in one database."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from pathlib import Path

from sureline.adapters.storage.derived_tables import SqlDerived
from sureline.adapters.storage.jobs import SqlJobs
from sureline.adapters.storage.keys import SqlKeys
from sureline.adapters.storage.ledger import SqlLedger
from sureline.adapters.storage.registry import SqlRegistry
from sureline.adapters.storage.sqlite_database import SqliteDatabase
from sureline.errors import InvalidInput, StoreReadOnly, StoreUnavailable

_PREFIX = "sqlite://"
_memory_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """An open store; `secret` was made at its creation and keys digests and samples."""

    url: str
    ledger: SqlLedger
    registry: SqlRegistry
    keys: SqlKeys
    jobs: SqlJobs
    derived: SqlDerived
    secret: bytes
    database: SqliteDatabase

    def close(self) -> None:
        """Write what was handed in and let go of the database."""
        self.database.close()


def open_store(url: str, *, busy_timeout: float = 5.0, create: bool = True) -> Store:
    """Open the store at `url`; one that is not there is made, or refused without `create`.

    `sqlite:///relative.db`, `sqlite:////absolute.db`, or `sqlite://` for a store in memory that
    ends with `close`. `busy_timeout` is how many seconds another process's lock is waited for.
    Raises StoreError, InvalidInput.
    """
    path = _path(url)
    where = "the store in memory" if path is None else str(path)
    if path is not None:
        _check(path)
        if not create and not path.exists():
            raise StoreUnavailable(f"{path}: there is no store; look for a typing error")
    database = SqliteDatabase(
        str(path or f"file:sureline-{os.getpid()}-{next(_memory_numbers)}?mode=memory"),
        where=where,
        memory=path is None,
        busy_timeout=busy_timeout,
    )
    return Store(
        url=url,
        ledger=SqlLedger(database),
        registry=SqlRegistry(database),
        keys=SqlKeys(database),
        jobs=SqlJobs(database),
        derived=SqlDerived(database),
        secret=database.secret,
        database=database,
    )


def _path(url: str) -> Path | None:
    if not url.startswith(_PREFIX):
        raise InvalidInput(
            f"expected sqlite:///file.db or sqlite://, not {url.split('://')[0]!r}", field="store"
        )
    rest = url.removeprefix(_PREFIX)
    if rest in {"", "/:memory:"}:
        return None
    if not rest.startswith("/") or rest == "/":
        raise InvalidInput("expected sqlite:///file.db (three slashes)", field="store")
    return Path(rest[1:])


def _check(path: Path) -> None:
    """Say in plain words what SQLite would only call "unable to open"."""
    if not path.parent.is_dir():
        raise StoreUnavailable(f"{path}: the folder {path.parent} does not exist")
    if path.is_dir():
        raise StoreUnavailable(f"{path} is a folder, not a file")
    if path.exists() and not os.access(path, os.W_OK):
        raise StoreReadOnly(f"{path} is read-only; make the file writable for this user")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise StoreReadOnly(
            f"{path}: the folder {path.parent} is read-only, but SQLite writes its log beside the "
            f"file; make the folder writable for this user"
        )
