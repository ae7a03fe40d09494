"""Runs what many callers handed in inside one transaction."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sureline.adapters.storage.append_decision import AppendDecision, append_decisions
from sureline.adapters.storage.gathering import LATER
from sureline.adapters.storage.transaction import Transaction
from sureline.errors import StoreError, SurelineError

T = TypeVar("T")

Job = Callable[[Transaction], Any]


@dataclass(frozen=True)
class LongJob(Generic[T]):
    """A job whose single statements may take minutes, such as making a table anew."""

    job: Callable[[Transaction], T]

    def __call__(self, transaction: Transaction) -> T:
        """Run the job."""
        return self.job(transaction)


def never() -> bool:
    """Tell that there is time for all of a batch."""
    return False


def run_jobs(
    transaction: Transaction, jobs: Sequence[Job], *, enough: Callable[[], bool] = never
) -> list[Any]:
    """Run the jobs; a refusal (such as NotFound) is an answer and does not undo the others.

    A job refuses before it writes anything. Decisions go first, all together: what is handed in
    at the same time has no order. Once `enough` says so, the rest is left for LATER; something is
    always done.
    """
    appends = [job for job in jobs if isinstance(job, AppendDecision)]
    stored = iter(append_decisions(transaction, appends) if appends else ())
    answers: list[Any] = []
    begun = bool(appends)
    for job in jobs:
        if isinstance(job, AppendDecision):
            answers.append(next(stored))
        elif begun and enough():
            answers.append(LATER)
        else:
            answers.append(_answer(transaction, job))
            begun = True
    return answers


def _answer(transaction: Transaction, job: Job) -> Any:
    try:
        return job(transaction)
    except StoreError:
        raise
    except SurelineError as refusal:
        return refusal
