"""Runs what many callers handed in inside one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sureline.adapters.storage.append_decision import AppendDecision, append_decisions
from sureline.adapters.storage.transaction import Transaction
from sureline.errors import StoreError, SurelineError

Job = Callable[[Transaction], Any]


def run_jobs(transaction: Transaction, jobs: Sequence[Job]) -> list[Any]:
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
