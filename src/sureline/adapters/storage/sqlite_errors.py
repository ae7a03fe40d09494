"""Says in sureline's own errors what SQLite reports."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sureline.errors import (
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

_Make = Callable[[str, str], StoreError]


def _full(where: str, _: str) -> StoreError:
    return StoreFull(
        f"{where}: the disk or the store is full; what was to be written now is not stored"
    )


_BY_CODE: dict[int, _Make] = {
    sqlite3.SQLITE_BUSY: lambda where, _: StoreBusy(
        f"another process kept {where} locked for too long; what was to be written now is not "
        f"stored, try again"
    ),
    sqlite3.SQLITE_LOCKED: lambda where, _: StoreBusy(
        f"{where} is locked by another connection; what was to be written now is not stored, "
        f"try again"
    ),
    sqlite3.SQLITE_READONLY: lambda where, _: StoreReadOnly(
        f"{where} cannot be written: the file or its folder is read-only"
    ),
    sqlite3.SQLITE_FULL: _full,
    sqlite3.SQLITE_IOERR_SHMSIZE: _full,
    sqlite3.SQLITE_CORRUPT: lambda where, said: StoreCorrupt(
        f"{where} is damaged ({said}); restore it from a backup"
    ),
    sqlite3.SQLITE_NOTADB: lambda where, _: StoreCorrupt(
        f"{where} is not a database; choose another file"
    ),
    sqlite3.SQLITE_CANTOPEN: lambda where, _: StoreUnavailable(
        f"{where} cannot be opened: check that its folder exists and that it may be read"
    ),
    sqlite3.SQLITE_IOERR: lambda where, said: StoreUnavailable(
        f"{where}: reading or writing the disk failed ({said}); nothing was acknowledged"
    ),
}


def store_error(error: sqlite3.Error, where: str) -> StoreError:
    """Return the StoreError that says what `error` means; `where` names the store's file."""
    code = getattr(error, "sqlite_errorcode", None)
    make = None if code is None else _BY_CODE.get(code) or _BY_CODE.get(code & 0xFF)
    if make is not None:
        return make(where, str(error))
    named = getattr(error, "sqlite_errorname", type(error).__name__)
    return StoreError(f"{where} refused what was asked of it ({named}); nothing was changed")


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Turn every SQLite error raised inside into a StoreError."""
    try:
        yield
    except sqlite3.Error as error:
        raise store_error(error, where) from error
