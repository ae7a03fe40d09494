"""Work that is done again and again: what there is to do, and who did it last."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

DELIVER = "deliver"
"""The task of telling the channels what is in the outbox."""
WORKER = "worker-"
"""How the owner of what a worker has claimed begins; the job server's number follows."""


def queue_of(task: str, workspace: str) -> str:
    """Return the queue of a workspace's tasks of one kind on the job server.

    The server tells of work on a channel of that name, which may have 40 letters.
    """
    return f"{task}-{hashlib.sha256(workspace.encode()).hexdigest()[:16]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A periodic job; `run` does it once and says in a sentence what came of it.

    A job may be run again after a crash, so doing it twice must do no harm. After failures in a row
    it waits `longest_retry` at most, None: its interval.
    """

    name: str
    about: str
    interval: timedelta
    run: Callable[[], Awaitable[str]]
    longest_retry: timedelta | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """What is remembered of a job, across restarts and processes.

    `due_at` is when it is to run next and `leased_until` until when somebody (`owner`) is running
    it, None if nobody is. `message` is what the last run said, or its error when `failures`, the
    number of failed runs in a row, is above 0.
    """

    name: str
    due_at: datetime
    leased_until: datetime | None = None
    owner: str | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    failures: int = 0
    message: str | None = None


class JobStore(Protocol):
    """Keeps the state of one workspace's jobs; claiming is atomic between processes.

    A claim is known by its owner and its `started_at`: whoever lost it to somebody else can
    neither end nor change what the other has.
    """

    async def claim(self, workspace: str, wanted: JobState, *, latest: datetime) -> JobState | None:
        """Lease the job to `wanted.owner` until `wanted.leased_until`, as of `wanted.started_at`.

        Returns what was remembered before (`wanted` for a job never met), or None if it is not
        due, or somebody else is at it. It is due at its `due_at`, and also where that lies beyond
        `latest`, which only a clock that was wrong can have written.
        """

    async def finish(self, workspace: str, state: JobState) -> bool:
        """Remember how a run ended and end its lease; False if that lease is another's by now."""

    async def states(self, workspace: str) -> Sequence[JobState]:
        """Return what is remembered, by name."""

    async def release_dead(self, seconds: float) -> int:
        """End the leases of workers whose heart has not beaten for so long; return how many.

        The database judges that by its own clock, in one statement.
        """


class Jobs(Protocol):
    """Runs jobs at their times."""

    async def run_due(self) -> Sequence[JobState]:
        """Run every job that is due and that nobody else is running; return how each ended."""

    async def run_if_due(self, name: str) -> JobState | None:
        """Run one job if it is due and nobody else is running it; None if it was not run.

        A name that is not known here is a job of another version's: it is left to that.
        """

    async def run(self, name: str) -> JobState:
        """Run a job now, due or not.

        Raises NotFound, and Refused while somebody is at it or if somebody took it over.
        """

    async def states(self) -> Sequence[tuple[Job, JobState | None]]:
        """Return every job with what is remembered of it."""
