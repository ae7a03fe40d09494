"""Opens a store: the ledger, the registry and the keys in one database."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sureline.adapters.storage.canary_runs import SqlCanaryRuns
from sureline.adapters.storage.database import Database
from sureline.adapters.storage.derived_tables import SqlDerived
from sureline.adapters.storage.ended_sessions import SqlEndedSessions
from sureline.adapters.storage.erasures import SqlErasures
from sureline.adapters.storage.inbound import SqlInbound
from sureline.adapters.storage.inbox import SqlInbox
from sureline.adapters.storage.incidents import SqlIncidents
from sureline.adapters.storage.jobs import SqlJobs
from sureline.adapters.storage.keys import SqlKeys
from sureline.adapters.storage.latest_cases import SqlLatestCases
from sureline.adapters.storage.ledger import SqlLedger
from sureline.adapters.storage.log_watch import LogWatch
from sureline.adapters.storage.migrating import Allowed
from sureline.adapters.storage.missions import SqlMissions
from sureline.adapters.storage.opinion_days import SqlOpinionCounts
from sureline.adapters.storage.outbox import SqlOutbox
from sureline.adapters.storage.planted import SqlPlanted
from sureline.adapters.storage.provenance import SqlProvenance
from sureline.adapters.storage.queue_flow import SqlQueueFlow
from sureline.adapters.storage.recalls import SqlRecalls
from sureline.adapters.storage.registry import SqlRegistry
from sureline.adapters.storage.remade_vectors import SqlRemadeVectors
from sureline.adapters.storage.reviews import SqlReviews
from sureline.adapters.storage.saved_views import SqlSavedViews
from sureline.adapters.storage.sqlite_database import SqliteDatabase
from sureline.adapters.storage.switch_sources import StoredSwitches, SwitchSource
from sureline.adapters.storage.verifications import SqlVerifications
from sureline.application.ports.clock import Clock
from sureline.errors import InvalidInput, StoreReadOnly, StoreUnavailable

if TYPE_CHECKING:
    from sureline.adapters.storage.case_vectors import PostgresCaseVectors

_PREFIX = "sqlite://"
_POSTGRES = ("postgresql://", "postgres://")
_memory_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Store:
    """An open store; `secret` was made at its creation and keys digests and samples.

    `case_vectors` are past cases beyond the window in memory; None on SQLite.
    """

    url: str
    ledger: SqlLedger
    registry: SqlRegistry
    keys: SqlKeys
    ended_sessions: SqlEndedSessions
    jobs: SqlJobs
    reviews: SqlReviews
    queue_flow: SqlQueueFlow
    inbox: SqlInbox
    views: SqlSavedViews
    planted: SqlPlanted
    outbox: SqlOutbox
    incidents: SqlIncidents
    recalls: SqlRecalls
    inbound: SqlInbound
    missions: SqlMissions
    erasures: SqlErasures
    derived: SqlDerived
    cases: SqlLatestCases
    canaries: SqlCanaryRuns
    remade: SqlRemadeVectors
    opinions: SqlOpinionCounts
    provenance: SqlProvenance
    verifications: SqlVerifications
    secret: bytes
    database: Database
    case_vectors: PostgresCaseVectors | None

    @property
    def in_memory(self) -> bool:
        """Tell whether nothing is kept beyond `close`."""
        return not self.on_postgres and _path(self.url) is None

    @property
    def on_postgres(self) -> bool:
        """Tell whether it is a PostgreSQL database, which several machines may share."""
        return self.url.startswith(_POSTGRES)

    @property
    def clock(self) -> Clock | None:
        """Return the database's time, which all machines that share it agree on; None for a file.

        Processes that share a file share a machine and its clock.
        """
        return self.database.clock

    @property
    def log_bytes(self) -> int:
        """Return the size of the write-ahead log; 0 where there is none to look after."""
        return self.database.log_bytes()

    @property
    def warnings(self) -> tuple[str, ...]:
        """Return codes of what somebody should look at while all still works."""
        return ("log_is_large",) if LogWatch(self.database).is_large else ()

    def close(self) -> None:
        """Write what was handed in and let go of the database."""
        if self.case_vectors is not None:
            self.case_vectors.close()
        self.database.close()


def open_store(
    url: str,
    *,
    busy_timeout: float = 5.0,
    create: bool = True,
    to_write: bool = True,
    upgrade: bool | None = None,
) -> Store:
    """Open the store at `url`; one that is not there is made, or refused without `create`.

    `sqlite:///relative.db`, `sqlite:////absolute.db`, or `sqlite://` for a store in memory that
    ends with `close`. `busy_timeout` is how many seconds another process's lock is waited for.
    One that cannot be written is refused; without `to_write` it is opened and read, for a moment
    rather than for hours, and only writing raises StoreReadOnly. Older tables are upgraded with
    `upgrade`, by default in a file that is opened `to_write`, and otherwise refused: other machines
    may be at work in a database. Raises StoreError, InvalidInput.
    """
    upgrades = upgrade if upgrade is not None else to_write and not url.startswith(_POSTGRES)
    allowed = Allowed(create=create, upgrade=upgrades)
    database, switches = _opened(url, busy_timeout, allowed=allowed, to_write=to_write)
    return Store(
        url=url,
        ledger=SqlLedger(database, switches),
        registry=SqlRegistry(database),
        keys=SqlKeys(database),
        ended_sessions=SqlEndedSessions(database),
        jobs=SqlJobs(database),
        reviews=SqlReviews(database),
        queue_flow=SqlQueueFlow(database),
        inbox=SqlInbox(database),
        views=SqlSavedViews(database),
        planted=SqlPlanted(database),
        outbox=SqlOutbox(database),
        incidents=SqlIncidents(database),
        recalls=SqlRecalls(database),
        inbound=SqlInbound(database),
        missions=SqlMissions(database),
        erasures=SqlErasures(database),
        derived=SqlDerived(database),
        cases=SqlLatestCases(database),
        canaries=SqlCanaryRuns(database),
        remade=SqlRemadeVectors(database),
        opinions=SqlOpinionCounts(database),
        provenance=SqlProvenance(database),
        verifications=SqlVerifications(database),
        secret=database.secret,
        database=database,
        case_vectors=_case_vectors(database),
    )


def _case_vectors(database: Database) -> PostgresCaseVectors | None:
    if isinstance(database, SqliteDatabase):
        return None
    from sureline.adapters.storage.case_vectors import PostgresCaseVectors
    from sureline.adapters.storage.postgres_database import PostgresDatabase

    assert isinstance(database, PostgresDatabase)
    return PostgresCaseVectors(database)


def file_of(url: str) -> Path | None:
    """Return the file of a store on SQLite, None of another. Raises InvalidInput."""
    return None if url.startswith(_POSTGRES) else _path(url)


def _opened(
    url: str, patience: float, *, allowed: Allowed, to_write: bool
) -> tuple[Database, SwitchSource]:
    if url.startswith(_POSTGRES):
        return _postgres(url, patience, allowed=allowed, to_write=to_write)
    path = _path(url)
    where = "the store in memory" if path is None else str(path)
    read_only = None if path is None else _obstacle(path, create=allowed.create)
    if read_only is not None and (to_write or path is None or not path.exists()):
        raise StoreReadOnly(read_only)
    database = SqliteDatabase(
        str(path or f"file:sureline-{os.getpid()}-{next(_memory_numbers)}?mode=memory"),
        where=where,
        memory=path is None,
        busy_timeout=patience,
        allowed=allowed if path is not None else Allowed(create=True, upgrade=True),
        read_only=read_only,
    )
    return database, StoredSwitches(database)


def _postgres(
    url: str, patience: float, *, allowed: Allowed, to_write: bool
) -> tuple[Database, SwitchSource]:
    """Open a PostgreSQL store; the driver is imported only then."""
    try:
        from sureline.adapters.storage.postgres_database import PostgresDatabase
    except ImportError as error:
        raise InvalidInput(
            f"a store on PostgreSQL needs the driver: pip install 'sureline[postgres]' ({error})",
            field="store",
        ) from error
    database = PostgresDatabase(url, patience=patience, allowed=allowed, to_write=to_write)
    return database, database.switches


def _path(url: str) -> Path | None:
    if not url.startswith(_PREFIX):
        raise InvalidInput(
            f"expected sqlite:///file.db or postgresql://host/database, not "
            f"{url.split('://')[0]!r}",
            field="store",
        )
    rest = url.removeprefix(_PREFIX)
    if rest in {"", "/:memory:"}:
        return None
    if not rest.startswith("/") or rest == "/":
        raise InvalidInput("expected sqlite:///file.db (three slashes)", field="store")
    return Path(rest[1:])


def _obstacle(path: Path, *, create: bool) -> str | None:
    """Say in plain words what SQLite would only call "unable to open".

    Returns why the file can only be read, if so. Raises StoreUnavailable if not even that.
    """
    if not path.parent.is_dir():
        raise StoreUnavailable(f"{path}: the folder {path.parent} does not exist")
    if path.is_dir():
        raise StoreUnavailable(f"{path} is a folder, not a file")
    if not create and not path.exists():
        raise StoreUnavailable(f"{path}: there is no store; look for a typing error")
    fixed_folder = not os.access(path.parent, os.W_OK | os.X_OK)
    if fixed_folder:
        _check_log(path)
    if path.exists() and not os.access(path, os.W_OK):
        return f"{path} is read-only; make the file writable for this user"
    if fixed_folder:
        return (
            f"{path}: the folder {path.parent} is read-only, but SQLite writes its log beside the "
            f"file; make the folder writable for this user"
        )
    return None


def _check_log(path: Path) -> None:
    """Refuse a copy whose last writes are in a log that cannot be read: the rest is not all."""
    log, index = Path(f"{path}-wal"), Path(f"{path}-shm")
    if log.exists() and log.stat().st_size and not index.exists():
        raise StoreReadOnly(
            f"{path}: what was written last is still in {log.name}, which SQLite cannot read in a "
            f"read-only folder; copy both files to a folder that can be written"
        )
