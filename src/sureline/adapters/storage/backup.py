"""Copies a store into a file while others write to it: as of one moment, whole, and verified."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from sureline.adapters.storage.copy_store import copy_store
from sureline.adapters.storage.schema import APPLICATION_ID
from sureline.adapters.storage.sqlite_database import reading_address
from sureline.adapters.storage.sqlite_errors import translated
from sureline.adapters.storage.store import Store, file_of, open_store
from sureline.adapters.storage.tables import SCHEMA_REVISION
from sureline.core.chain_verification import ChainReport
from sureline.errors import InvalidInput, Refused, StoreCorrupt, StoreError, StoreUnavailable

PAGES = 2_000
"""Pages of the file that are copied at once."""

_SQLITE = b"SQLite format 3\x00"

Progress = Callable[[int], None]
"""Is told how much more was copied: pages of a file, or rows of a database."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A backup that was made and verified."""

    path: Path
    size: int
    rows: int
    head: str


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Yield an empty file beside `path`, readable by its owner alone, that takes its name at last.

    Raises Refused if `path` is there already, InvalidInput if nothing can be made there.
    """
    if path.exists() or path.is_symlink():
        raise Refused(f"{path} is there already; a backup is never overwritten")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except OSError as error:
        raise InvalidInput(f"cannot write: {error.strerror}", field=str(path)) from None
    try:
        yield part
        with part.open("rb") as written:
            os.fsync(written.fileno())
        os.link(part, path)  # unlike a rename, it never replaces what came there meanwhile
    except FileExistsError:
        raise Refused(f"{path} is there already; a backup is never overwritten") from None
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        for one in (part, Path(f"{part}-wal"), Path(f"{part}-shm")):
            one.unlink(missing_ok=True)


def copy_file(source: Path, target: Path, *, progress: Progress) -> None:
    """Copy a SQLite file as of one moment, while others write to it. Raises StoreError.

    Our reading holds that moment, so that the copy never starts anew; until it ends, the
    write-ahead log of the source only grows.
    """
    copied = 0

    def advanced(_: int, remaining: int, total: int) -> None:
        nonlocal copied
        progress(total - remaining - copied)
        copied = total - remaining

    with (
        translated(str(source)),
        closing(
            sqlite3.connect(reading_address(source), uri=True, isolation_level=None)
        ) as reading,
        closing(sqlite3.connect(target, isolation_level=None)) as writing,
    ):
        reading.execute("BEGIN")
        reading.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone()
        reading.backup(writing, pages=PAGES, progress=advanced)
        writing.execute("PRAGMA secure_delete=ON")
        found = writing.execute("PRAGMA quick_check(1)").fetchone()[0]
    if found != "ok":
        raise StoreError(f"{source}: its pages are damaged, so it was not backed up: {found}")


async def copy_rows(source: Store, target: Path, *, progress: Progress) -> None:
    """Copy a store of any kind row by row into a SQLite file. Raises StoreError."""
    store = open_store(f"sqlite:///{target}")
    try:
        report = await copy_store(source, store, progress=progress, moving=True)
    finally:
        store.close()
    if report.problem is not None:
        raise Refused(f"no backup was made: {report.problem}")


def is_on_postgres(url: str) -> bool:
    """Tell whether a store has no file. Raises InvalidInput."""
    return file_of(url) is None and not url.startswith("sqlite:")


def file_to_copy(url: str) -> Path:
    """Return the file of a store, which is not opened: that would upgrade it. Raises as opening."""
    file = file_of(url)
    if file is None:
        raise InvalidInput("a store in memory has nothing to back up", field="--store")
    if not file.is_file():
        raise StoreUnavailable(f"{file}: there is no store; look for a typing error")
    check_is_store(file)
    return file


def check_is_store(file: Path) -> None:
    """Raise StoreCorrupt unless a file begins as a store's: opening an empty one would make one."""
    with file.open("rb") as opened:
        first = opened.read(72)
    if not first:
        raise StoreCorrupt(f"{file} is empty (0 bytes); expected a SQLite file of sureline")
    if first[:16] != _SQLITE or int.from_bytes(first[68:72], "big") != APPLICATION_ID:
        raise StoreCorrupt(f"{file} is not a sureline store; expected a SQLite file of sureline")


async def proven(path: Path) -> ChainReport:
    """Verify a copy as a restored store would be; it is left as it is. Raises Refused, StoreError.

    One of an earlier version is verified in a copy of its own, which opening it upgrades.
    """
    if _revision(path) == SCHEMA_REVISION:
        return await _verified(path)
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f"{path.name}.") as folder:
        return await _verified(take_copy(path, Path(folder)))


def _revision(path: Path) -> str | None:
    with closing(sqlite3.connect(reading_address(path), uri=True)) as reading:
        try:
            row = reading.execute("SELECT version_num FROM alembic_version").fetchone()
        except sqlite3.Error:
            return None  # opening it says what it is instead
    return None if row is None else str(row[0])


async def _verified(path: Path) -> ChainReport:
    store = open_store(f"sqlite:///{path}", create=False)
    try:
        chain = await store.ledger.verify()
        tables = await store.derived.compare() if chain.ok else ()
        programs = store.derived.programs().faults
    finally:
        store.close()
    if chain.fault is not None:
        raise Refused(f"the ledger does not hold, so no backup was made: {chain.fault.message}")
    wrong = [one.sentence for one in tables if not one.ok]
    if programs:
        raise Refused(f"no backup was made: {programs[0]}")
    if wrong:
        raise Refused(
            f"no backup was made: {wrong[0]}; to put it right: sureline ledger rebuild --by X"
        )
    return chain


def take_copy(path: Path, folder: Path) -> Path:
    """Copy a backup, with its log if it has one, into a folder. Raises InvalidInput, StoreError."""
    if not path.is_file():
        raise InvalidInput("there is no such backup", field=str(path))
    check_is_store(path)
    copy = folder / "restored.db"
    try:
        for ending in ("", "-wal"):
            if Path(f"{path}{ending}").exists():
                shutil.copyfile(f"{path}{ending}", f"{copy}{ending}")
    except OSError as error:
        raise StoreError(f"{path}: cannot be copied to {folder}: {error.strerror}") from error
    return copy


def size_of(path: Path) -> int:
    """Return the bytes of a file."""
    return path.stat().st_size
