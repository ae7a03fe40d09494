"""Periodic jobs on a file, on PostgreSQL, and run by the job server's worker: one contract."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from sureline.adapters.jobs.embedded import EmbeddedJobs
from sureline.adapters.jobs.tasks import JOB, Chores
from sureline.adapters.jobs.worker import app_of
from sureline.adapters.storage.store import Store, open_store
from sureline.application.ports.jobs import Job, Jobs, JobState, queue_of
from sureline.testing import FixedClock
from tests.postgres import Postgres
from tests.postgres import postgres as postgres

MINUTE, HOUR = timedelta(minutes=1), timedelta(hours=1)


class Chore:
    """A job that counts its runs, and raises what it is told to."""

    def __init__(self) -> None:
        self.runs = 0
        self.wrong: Exception | None = None

    async def __call__(self) -> str:
        self.runs += 1
        if self.wrong is not None:
            raise self.wrong
        return f"run {self.runs}"


async def nothing(*_: object) -> None:
    """Do nothing."""


@dataclass(frozen=True)
class Worked:
    """The port `Jobs` as a worker does it: each look is a round of the job server."""

    url: str
    jobs: EmbeddedJobs

    async def run_due(self) -> Sequence[JobState]:
        ended = []

        async def run_job(owner: str, name: str) -> JobState | None:
            state = await replace(self.jobs, owner=owner).run_if_due(name)
            ended.extend([state] if state is not None else [])
            return state

        names = [job.name for job in self.jobs.jobs]
        chores = Chores(
            workspace=self.jobs.workspace,
            sweep=None,
            deliver=None,
            run_job=run_job,
            job_names=names,
            release=nothing,
            end=nothing,
        )
        app, queue = app_of(self.url, chores, stalled=10), queue_of(JOB, self.jobs.workspace)
        async with app.open_async():
            for name in names:
                await app.configure_task(JOB, queue=queue).defer_async(name=name)
            await app.run_worker_async(
                queues=[queue],
                wait=False,
                listen_notify=False,
                install_signal_handlers=False,
                delete_jobs="always",
            )
        return ended

    async def run_if_due(self, name: str) -> JobState | None:
        return await self.jobs.run_if_due(name)

    async def run(self, name: str) -> JobState:
        return await self.jobs.run(name)

    async def states(self) -> Sequence[tuple[Job, JobState | None]]:
        return await self.jobs.states()


@dataclass
class Place:
    """A store with a chore, and processes that look after it."""

    url: str
    by_worker: bool

    def __post_init__(self) -> None:
        self.clock = FixedClock()
        self.chore = Chore()
        self.stores: list[Store] = []

    def process(
        self,
        owner: str = "a",
        workspace: str = "default",
        work: Callable[[], Awaitable[str]] | None = None,
        longest_retry: timedelta | None = None,
    ) -> Jobs:
        """Open the store anew, as another process would."""
        found = self.embedded(owner, workspace, work or self.chore, longest_retry)
        return Worked(self.url, found) if self.by_worker else found

    def embedded(
        self,
        owner: str,
        workspace: str = "default",
        work: Callable[[], Awaitable[str]] | None = None,
        longest_retry: timedelta | None = None,
    ) -> EmbeddedJobs:
        store = open_store(self.url)
        self.stores.append(store)
        job = Job(
            name="chore",
            about="Do it.",
            interval=HOUR,
            run=work or self.chore,  # type: ignore[arg-type]
            longest_retry=longest_retry,
        )
        return EmbeddedJobs(
            store=store.jobs,
            jobs=[job],
            clock=self.clock,
            owner=owner,
            workspace=workspace,
            lease=HOUR / 2,
            first_retry=MINUTE,
        )


@pytest.fixture(scope="module")
def shared(request: pytest.FixtureRequest) -> str:
    """Make one database for the tests of a file: making one takes longer than they do."""
    server: Postgres = request.getfixturevalue("postgres")
    return server.database()


@pytest.fixture(params=["file", "postgres", "worker"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """Make an empty place of each kind and let go of it."""
    url = f"sqlite:///{tmp_path / 'store.db'}"
    if request.param != "file":
        url = request.getfixturevalue("shared")
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DELETE FROM jobs")
    made = Place(url, request.param == "worker")
    yield made
    for store in made.stores:
        store.close()
