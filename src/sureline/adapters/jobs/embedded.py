"""Periodic jobs, each claimed in the store before it is run.

On SQLite a loop inside the process runs what is due. On PostgreSQL the job server's tasks do, and
claim in the same way: so a job is run once, whoever is told to run it.
"""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import PurePath

from sureline.application.ports.clock import Clock
from sureline.application.ports.jobs import Job, JobState, JobStore
from sureline.errors import NotFound, Refused, SurelineError

_MOST_DOUBLINGS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedJobs:
    """Runs one workspace's jobs in turn; see the port `Jobs` for the contract.

    `owner` names this process among those that share the store. A job runs once for all of them:
    whoever claims it first has it for `lease`. What was missed while nothing ran is made up for
    once. A job that fails is tried again after `first_retry`, doubled with each failure in a row,
    at most its interval, or longer where the job says so.
    """

    store: JobStore
    jobs: Sequence[Job]
    clock: Clock
    owner: str
    workspace: str
    lease: timedelta
    first_retry: timedelta

    async def run_due(self) -> Sequence[JobState]:
        """Run every job that is due and that nobody else is running; return how each ended."""
        ended = [await self._run_if_due(job) for job in self.jobs]
        return [state for state in ended if state is not None]

    async def run_if_due(self, name: str) -> JobState | None:
        """Run one job if it is due and nobody else is running it; None if it was not run.

        A name that is not known here is a job of another version's: it is left to that.
        """
        job = next((one for one in self.jobs if one.name == name), None)
        return None if job is None else await self._run_if_due(job)

    async def run(self, name: str) -> JobState:
        """Run a job now, due or not.

        Raises NotFound, and Refused while somebody is at it or if somebody took it over.
        """
        job = next((one for one in self.jobs if one.name == name), None)
        if job is None:
            known = ", ".join(one.name for one in self.jobs)
            raise NotFound(f"there is no job {name!r} (there are: {known})")
        now = self.clock.now()
        before = await self._claim(job, now, latest=now)
        if before is None:
            raise Refused(f"the job {name} is being run by another process")
        state = await self._run(job, before, started=now)
        if state is None:
            raise Refused(f"the job {name} took so long that another process runs it again")
        return state

    async def states(self) -> Sequence[tuple[Job, JobState | None]]:
        """Return every job with what is remembered of it."""
        known = {one.name: one for one in await self.store.states(self.workspace)}
        return [(job, known.get(job.name)) for job in self.jobs]

    async def _run_if_due(self, job: Job) -> JobState | None:
        now = self.clock.now()
        before = await self._claim(job, now, latest=now + _longest(job))
        return None if before is None else await self._run(job, before, started=now)

    async def _claim(self, job: Job, now: datetime, *, latest: datetime) -> JobState | None:
        wanted = JobState(
            name=job.name,
            due_at=now,
            owner=self.owner,
            started_at=now,
            leased_until=now + self.lease,
        )
        return await self.store.claim(self.workspace, wanted, latest=latest)

    async def _run(self, job: Job, before: JobState, *, started: datetime) -> JobState | None:
        """Run a claimed job; None if its lease was lost meanwhile, so that its result is void."""
        failures = 0
        try:
            message = await job.run()
        except Exception as error:  # noqa: BLE001 - the boundary: it is kept, shown and tried again
            message, failures = _described(error), before.failures + 1
        now = self.clock.now()
        state = replace(
            before,
            due_at=now + (self._backoff(job, failures) if failures else job.interval),
            leased_until=None,
            owner=self.owner,
            started_at=started,
            finished_at=now,
            failures=failures,
            message=message,
        )
        return state if await self.store.finish(self.workspace, state) else None

    def _backoff(self, job: Job, failures: int) -> timedelta:
        doublings = min(failures - 1, _MOST_DOUBLINGS)
        return min(job.longest_retry or job.interval, self.first_retry * (1 << doublings))


def _longest(job: Job) -> timedelta:
    """Return how far away a job's next run can be at most."""
    return max(job.interval, job.longest_retry or job.interval)


def _described(error: Exception) -> str:
    """Describe an error without quoting data: ours in words, others by their kind and place."""
    if isinstance(error, SurelineError):
        return error.message
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {PurePath(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    return f"{type(error).__name__}{place}"
