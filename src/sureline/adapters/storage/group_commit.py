"""Writes a batch of jobs in one SQLite transaction; the writer's other half."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from sureline.adapters.storage.batch import Job, run_jobs
from sureline.adapters.storage.sqlite_driver import SqliteDriver
from sureline.adapters.storage.sqlite_errors import store_error
from sureline.adapters.storage.transaction import Transaction
from sureline.errors import StoreBusy

_SCRUB_PATIENCE_MS = 50


class GroupCommit:
    """Owns the writing connection; called by the writer's thread only.

    `sharing` is held while writing, for readers that share the connection (a store in memory).
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        where: str,
        *,
        sharing: AbstractContextManager[Any],
    ) -> None:
        self._connection = connection
        self._where = where
        self._sharing = sharing
        self._unscrubbed = False

    def __call__(self, jobs: Sequence[Job]) -> list[Any]:
        """Write all jobs in one transaction; if that fails, each in its own.

        One bad row must not lose its neighbours. A lock that was not let go concerns all, and
        waiting for it once per job would take minutes.
        """
        try:
            return self._commit(jobs)
        except StoreBusy as error:
            return [error] * len(jobs)
        except Exception as error:  # noqa: BLE001 - the boundary: each caller gets its error
            if len(jobs) == 1:
                return [error]
        return [self([job])[0] for job in jobs]

    def _commit(self, jobs: Sequence[Job]) -> list[Any]:
        with self._sharing:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                transaction = Transaction(SqliteDriver(self._connection))
                results = run_jobs(transaction, jobs)
                transaction.seal()
                self._connection.execute("COMMIT")
            except BaseException as error:
                self._roll_back()
                if isinstance(error, sqlite3.Error):
                    raise store_error(error, self._where) from error
                raise
            if transaction.scrub or self._unscrubbed:
                self._scrub()
        return results

    def _roll_back(self) -> None:
        if self._connection.in_transaction:  # SQLite rolls back by itself after some errors
            self._connection.execute("ROLLBACK")

    def _scrub(self) -> None:
        """Empty the write-ahead log, where erased pages would live on.

        If a reader is in the way for longer than a moment, the next commit tries again.
        """
        patience = self._connection.execute("PRAGMA busy_timeout").fetchone()[0]
        self._connection.execute(f"PRAGMA busy_timeout={_SCRUB_PATIENCE_MS}")
        try:
            blocked, *_ = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            self._unscrubbed = bool(blocked)
        except sqlite3.Error:  # the rows are committed: this must not fail the jobs
            self._unscrubbed = True
        finally:
            self._connection.execute(f"PRAGMA busy_timeout={int(patience)}")
