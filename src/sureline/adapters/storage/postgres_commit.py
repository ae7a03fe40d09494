"""Writes a batch of jobs in PostgreSQL transactions; the writer's other half there.

Decisions of different processes do not wait for each other: each writer has a stream of the chain
of its own, leased by an advisory lock for as long as its connection lives. Everything else is
written under one lock of the store, as it is on SQLite: who reads before writing, reads what holds.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from psycopg import errors

from sureline.adapters.storage.append_decision import AppendDecision
from sureline.adapters.storage.batch import Job, LongJob, run_jobs
from sureline.adapters.storage.enqueue import CannotWake, can_wake, enqueue_delivery
from sureline.adapters.storage.gathering import LATER
from sureline.adapters.storage.places import WRITER
from sureline.adapters.storage.postgres_driver import (
    LOCKS,
    WRITE_LOCK,
    Connection,
    PostgresDriver,
)
from sureline.adapters.storage.postgres_errors import store_error
from sureline.adapters.storage.transaction import Transaction
from sureline.errors import OtherSchema, StoreBusy, StoreError, StoreUnavailable

BATCH_SECONDS = 1.0
"""After so long a batch begins no further job: others wait for the lock, and for an answer."""
TRIES = 3
"""So often a batch is written in which there is an id that another writer has just stored."""


class _CameFirst(Exception):
    """Another writer stored a row under the same key, after this one looked for it."""


class PostgresCommit:
    """Owns the writing connection, and makes a new one after it was lost; one thread only."""

    def __init__(
        self,
        connect: Callable[[], Connection],
        where: str,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connect, self._monotonic = connect, monotonic
        self._where = where
        self._connection: Connection | None = None
        self._stream = ""
        self._can_wake = False

    def __call__(self, jobs: Sequence[Job]) -> list[Any]:
        """Write all jobs, those that need no lock first; each gets its result or its error."""
        results: dict[int, Any] = {}
        for locked in (False, True):
            places = [at for at, job in enumerate(jobs) if needs_lock(job) is locked]
            if places:
                written = self._write([jobs[at] for at in places], locked=locked)
                results.update(zip(places, written, strict=True))
        return [results[at] for at in range(len(jobs))]

    def close(self) -> None:
        """Let go of the connection, and with it of the stream."""
        if self._connection is not None:
            with suppress(psycopg.Error):
                self._connection.close()
        self._connection = None

    def _write(self, jobs: Sequence[Job], *, locked: bool) -> list[Any]:
        """Write all jobs in one transaction; if that fails, each in its own.

        One bad row must not lose its neighbours. What concerns all (no connection, a lock that
        was not let go) is not tried once per job: that would take minutes.
        """
        try:
            return self._commit_anew(jobs, locked=locked)
        except CannotWake:  # costs a wake-up, never what was to be written
            self._can_wake = False
            return self._write(jobs, locked=locked)
        except (StoreBusy, StoreUnavailable, OtherSchema) as error:
            return [error] * len(jobs)
        except Exception as error:  # noqa: BLE001 - the boundary: each caller gets its error
            if len(jobs) == 1:
                return [error]
        return self._one_by_one(jobs, locked=locked)

    def _one_by_one(self, jobs: Sequence[Job], *, locked: bool) -> list[Any]:
        """Write each job in a transaction of its own, as many as there is time for."""
        until = self._monotonic() + BATCH_SECONDS
        results: list[Any] = []
        for job in jobs:
            is_late = bool(results) and self._monotonic() > until
            results.append(LATER if is_late else self._write([job], locked=locked)[0])
        return results

    def _commit_anew(self, jobs: Sequence[Job], *, locked: bool) -> list[Any]:
        """Write all jobs; again where another writer has stored the same id meanwhile.

        Its transaction has ended by then, so that this one finds the id and answers with what is
        stored. Each time again another id may have come, so there is an end to it.
        """
        for _ in range(TRIES):
            try:
                return self._commit(jobs, locked=locked)
            except _CameFirst as error:
                came_first = error
        raise StoreError(str(came_first)) from came_first

    def _commit(self, jobs: Sequence[Job], *, locked: bool) -> list[Any]:
        until = self._monotonic() + BATCH_SECONDS
        try:
            connection = self._begun()
            if locked:
                connection.execute("SELECT pg_advisory_xact_lock(%s, %s)", (LOCKS, WRITE_LOCK))
            with _as_long_as_it_takes(connection, jobs):
                transaction = Transaction(PostgresDriver(connection, self._stream))
                results = run_jobs(transaction, jobs, enough=lambda: self._monotonic() > until)
                transaction.seal()
                if transaction.to_tell and self._can_wake:
                    enqueue_delivery(connection, transaction.to_tell)
            connection.execute("COMMIT")
        except BaseException as error:
            self._roll_back()
            if isinstance(error, errors.UniqueViolation):
                raise _CameFirst(str(store_error(error, self._where))) from error
            if isinstance(error, psycopg.Error):
                raise store_error(error, self._where) from error
            raise
        return results

    def _begun(self) -> Connection:
        """Begin a transaction; a line that broke since the last one is made anew.

        Nothing was asked of it yet, so this is the one place where trying again is harmless.
        """
        was_open = self._connection is not None and not self._connection.closed
        connection = self._opened()
        try:
            connection.execute("BEGIN")
        except psycopg.OperationalError:
            if not (was_open and connection.closed):
                raise
            connection = self._opened()
            connection.execute("BEGIN")
        return connection

    def _opened(self) -> Connection:
        if self._connection is None or self._connection.closed:
            self._connection = self._connect()
            self._stream = lease_stream(self._connection)
            self._can_wake = can_wake(self._connection)
        return self._connection

    def _roll_back(self) -> None:
        """Undo what was begun; a connection that cannot do even that is given up."""
        if self._connection is None:
            return
        try:
            self._connection.rollback()
        except psycopg.Error:
            self.close()


@contextmanager
def _as_long_as_it_takes(connection: Connection, jobs: Sequence[Job]) -> Iterator[None]:
    """Set no limit to single statements while there is a job that needs it."""
    if not any(isinstance(job, LongJob) for job in jobs):
        yield
        return
    usual = connection.answer_seconds
    connection.execute("SET LOCAL statement_timeout = 0")
    connection.answer_seconds = None
    try:
        yield
    finally:
        connection.answer_seconds = usual


def needs_lock(job: Job) -> bool:
    """Tell whether a job reads before it writes, or writes what others write too.

    A decision that opens an item of the queue counts it, in a row that all processes share.
    """
    if not isinstance(job, AppendDecision):
        return True
    return job.record.retry_of is not None or job.record.review is not None


def lease_stream(connection: Connection) -> str:
    """Take the first stream that no living writer has; it is free again when the session ends."""
    for number in itertools.count(1):
        row = connection.execute("SELECT pg_try_advisory_lock(%s, %s)", (LOCKS, number)).fetchone()
        if row is not None and row[0]:
            return f"{WRITER}{number}"
    raise AssertionError("there is always a free number")
