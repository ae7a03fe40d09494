"""Says in sureline's own errors what PostgreSQL reports; never with a password."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
from psycopg import errors

from sureline.errors import (
    StoreBusy,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

_Make = Callable[[str, str], StoreError]
_NAMED = re.compile(r'(?:(?:relation|table|column|constraint|index|function|schema) )+"?[\w.]+"?')

_BY_TYPE: tuple[tuple[type[psycopg.Error] | tuple[type[psycopg.Error], ...], _Make], ...] = (
    (
        (
            errors.LockNotAvailable,
            errors.DeadlockDetected,
            errors.SerializationFailure,
            errors.QueryCanceled,
        ),
        lambda where, said: StoreBusy(
            f"{where} was held up for too long ({said}); what was to be written now is not "
            f"stored, try again"
        ),
    ),
    (
        (errors.DiskFull, errors.OutOfMemory),
        lambda where, _: StoreFull(
            f"{where}: the disk or the store is full; what was to be written now is not stored"
        ),
    ),
    (
        (errors.TooManyConnections,),
        lambda where, _: StoreBusy(
            f"{where} has no connection left; raise max_connections or run fewer processes"
        ),
    ),
    (
        (errors.ReadOnlySqlTransaction, errors.InsufficientPrivilege),
        lambda where, said: StoreReadOnly(f"{where} cannot be written ({said})"),
    ),
    (
        (errors.DataCorrupted, errors.IndexCorrupted),
        lambda where, said: StoreCorrupt(f"{where} is damaged ({said}); restore it from a backup"),
    ),
    (
        (psycopg.OperationalError, psycopg.InterfaceError),
        lambda where, said: StoreUnavailable(
            f"{where} cannot be reached ({said}); nothing was acknowledged"
        ),
    ),
)


def store_error(error: psycopg.Error, where: str) -> StoreError:
    """Return the StoreError that says what `error` means; `where` names the store."""
    for types, make in _BY_TYPE:
        if isinstance(error, types):
            return make(where, _said(error))
    code = f" (SQLSTATE {error.sqlstate})" if error.sqlstate else ""
    return StoreError(f"{where} refused what was asked of it{code}; nothing was changed")


def _said(error: psycopg.Error) -> str:
    """Return what the server says without the names of its tables, columns and constraints.

    What it says of a line that fails names the host and the database, and is kept.
    """
    said = (error.diag.message_primary or str(error)).strip().split("\n")[0]
    return said if error.sqlstate is None else _NAMED.sub("something", said)


@contextmanager
def translated(where: str) -> Iterator[None]:
    """Turn every error of the driver raised inside into a StoreError."""
    try:
        yield
    except psycopg.Error as error:
        raise store_error(error, where) from error
