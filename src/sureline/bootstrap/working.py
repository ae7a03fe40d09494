"""Do beside a server, or instead of one, what is done without being asked.

On a file that is three threads: periodic jobs, deadlines, and telling the channels. On PostgreSQL
it is a worker of the job server, which shares the same work with all other workers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from sureline.adapters.jobs.thread import JobThread
from sureline.adapters.repeating import RepeatingThread
from sureline.application.ports.jobs import JobState
from sureline.bootstrap.notifiers import courier_of, delivery_thread
from sureline.bootstrap.services import Services
from sureline.bootstrap.sweeping import sweep_of, sweep_thread
from sureline.bootstrap.verifying import verify_thread
from sureline.errors import InvalidInput, OtherSchema

if TYPE_CHECKING:
    from sureline.adapters.jobs.tasks import Chores
    from sureline.adapters.jobs.worker import WorkerSettings, WorkerThread

CONCURRENCY = 4
"""How many things a worker does at once unless told otherwise."""


@contextmanager
def working(
    services: Services,
    *,
    jobs: bool,
    deliver: bool,
    concurrency: int = CONCURRENCY,
    ended: Callable[[OtherSchema], None] | None = None,
) -> Iterator[None]:
    """Work from entering to leaving; what is under way at the end may take a moment to finish.

    Deadlines are looked after in any case. With neither jobs nor delivery no worker is started:
    others do it then. `ended` is told when a worker ends by itself, for the store's tables have
    become another version's. Raises StoreError where they are so at the start.
    """
    threads = [
        verify_thread(services.store, services.clock, services.workspace),
        *_threads(services, jobs=jobs, deliver=deliver, concurrency=concurrency, ended=ended),
    ]
    with ExitStack() as entered:
        for thread in threads:
            entered.enter_context(thread)
        try:
            yield
        finally:
            for thread in threads:
                thread.stop()


def _threads(
    services: Services,
    *,
    jobs: bool,
    deliver: bool,
    concurrency: int,
    ended: Callable[[OtherSchema], None] | None,
) -> Iterator[RepeatingThread]:
    if services.store.on_postgres and (jobs or deliver):
        from sureline.adapters.jobs.worker import WorkerSettings

        settings = WorkerSettings(concurrency=concurrency)
        worker = worker_thread(services, jobs=jobs, deliver=deliver, settings=settings)
        worker.ended = ended
        yield worker
        return
    yield sweep_thread(services)
    if jobs:
        yield JobThread(services.jobs)
    if deliver:
        yield delivery_thread(services)


def worker_thread(
    services: Services, *, jobs: bool, deliver: bool, settings: WorkerSettings
) -> WorkerThread:
    """Return a worker of the job server; enter it to start. Raises StoreError, MissingExtra."""
    from sureline.adapters.jobs.worker import WorkerThread

    def check() -> None:
        _check_tables(services)

    def chores() -> Chores:
        return chores_of(services, jobs=jobs, deliver=deliver)

    check()
    return WorkerThread(services.store.url, chores, settings=settings, check=check)


def chores_of(services: Services, *, jobs: bool, deliver: bool) -> Chores:
    """Return what there is to do for the workspace."""
    from sureline.adapters.jobs.tasks import Chores

    courier = courier_of(services)
    sending: dict[str, asyncio.Task[None]] = {}

    async def tell(owner: str) -> None:
        courier.owner = owner
        await courier.begin(sending)

    def run_job(owner: str, name: str) -> Coroutine[Any, Any, JobState | None]:
        return services.jobs_as(owner).run_if_due(name)

    async def release(seconds: float) -> None:
        await services.store.jobs.release_dead(seconds)
        await services.store.outbox.release_dead(seconds)

    async def end(seconds: float) -> None:
        await courier.end(sending, seconds)

    return Chores(
        workspace=services.workspace,
        sweep=sweep_of(services),
        deliver=tell if deliver else None,
        run_job=run_job if jobs else None,
        job_names=[job.name for job in services.jobs_as("").jobs],
        release=release,
        end=end,
    )


def _check_tables(services: Services) -> None:
    from sureline.adapters.storage.job_tables import check
    from sureline.adapters.storage.postgres_database import PostgresDatabase

    database = services.store.database
    if not isinstance(database, PostgresDatabase):
        raise InvalidInput("only a store on PostgreSQL has a job server", field="store")
    where = database.where
    database.look(lambda connection: check(connection, where))
