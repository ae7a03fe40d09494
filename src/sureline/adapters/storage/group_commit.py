"""Writes a batch of jobs in one SQLite transaction; the writer's other half."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

from sureline.adapters.storage.append_decision import AppendDecision, append_decisions
from sureline.adapters.storage.sqlite_errors import store_error
from sureline.adapters.storage.transaction import Transaction
from sureline.errors import StoreBusy, StoreError, SurelineError

_SCRUB_PATIENCE_MS = 50

Job = Callable[[Transaction], Any]


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
                transaction = Transaction(self._connection)
                results = _run(transaction, jobs)
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


def _run(transaction: Transaction, jobs: Sequence[Job]) -> list[Any]:
    """Run the jobs; a refusal (such as NotFound) is an answer and does not undo the others.

    A job refuses before it writes anything. Decisions go first, all together: what is handed in
    at the same time has no order.
    """
    appends = [job for job in jobs if isinstance(job, AppendDecision)]
    stored = iter(append_decisions(transaction, appends) if appends else ())
    return [
        next(stored) if isinstance(job, AppendDecision) else _answer(transaction, job)
        for job in jobs
    ]


def _answer(transaction: Transaction, job: Job) -> Any:
    try:
        return job(transaction)
    except StoreError:
        raise
    except SurelineError as refusal:
        return refusal
