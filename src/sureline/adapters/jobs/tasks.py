"""What the job server's workers do on PostgreSQL: four tasks, the rest is procrastinate's.

`deliver` tells the channels, `sweep` settles what time has changed, `job` runs a periodic job, and
`rescue` takes what dead workers held. All of them are periodic and find in the store what there is
to do, so one that is lost or done twice does no harm; `deliver` is also put in the queue by the
transaction that wrote what is to be told.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

import procrastinate
from procrastinate import JobContext
from procrastinate.exceptions import AlreadyEnqueued, ConnectorException
from procrastinate.jobs import Job, Status

from sureline.application.ports.jobs import DELIVER, WORKER, JobState, queue_of
from sureline.errors import SurelineError

T = TypeVar("T")
logger = logging.getLogger(__name__)

SWEEP, JOB, RESCUE = "sweep", "job", "rescue"
EVERY_SECOND = "* * * * * *"
EVERY_TWO_SECONDS = "* * * * * */2"
EVERY_HALF_MINUTE = "* * * * * */30"

Work = Callable[[], Coroutine[Any, Any, T]]


@dataclass(slots=True, kw_only=True)
class UnderWay:
    """What a worker is doing; once it is stopping, nothing more begins.

    The job server's own way to stop ends the worker's heart first, and others would take over what
    is still under way.
    """

    stopping: bool = False
    running: set[asyncio.Task[Any]] = field(default_factory=set)

    async def do(self, what: str, work: Work[T]) -> T | None:
        """Do it, unless it is time to stop; an error is told without quoting data."""
        task = asyncio.current_task()
        if self.stopping or task is None:
            return None
        self.running.add(task)
        try:
            return await _guarded(what, work)
        finally:
            self.running.discard(task)

    async def end(self, seconds: float) -> None:
        """Begin nothing more, and wait so long for what is under way."""
        self.stopping = True
        if self.running:
            await asyncio.wait(set(self.running), timeout=seconds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chores:
    """What there is to do for one workspace; None: others do it.

    `deliver` and `run_job` are given the name of the worker, to claim by. `release` ends the claims
    of workers without a heartbeat for so many seconds.
    """

    workspace: str
    sweep: Work[object] | None
    deliver: Callable[[str], Coroutine[Any, Any, None]] | None
    run_job: Callable[[str, str], Coroutine[Any, Any, JobState | None]] | None
    job_names: Sequence[str]
    release: Callable[[float], Coroutine[Any, Any, None]]
    end: Callable[[float], Coroutine[Any, Any, None]]
    """Ends what `deliver` has begun, within so many seconds."""
    under_way: UnderWay = field(default_factory=UnderWay)

    async def stop(self, seconds: float) -> None:
        """Begin nothing more; let what is under way end within so long."""
        await asyncio.gather(self.under_way.end(seconds), self.end(seconds))

    def queues(self) -> list[str]:
        """Return the queues that hold it."""
        wanted = {SWEEP: self.sweep, DELIVER: self.deliver, JOB: self.run_job}
        kinds = [kind for kind, work in wanted.items() if work is not None]
        return [queue_of(kind, self.workspace) for kind in (*kinds, RESCUE)]


def register(app: procrastinate.App, chores: Chores, *, stalled: float) -> None:
    """Tell the job server's client what there is to do, and when; `stalled` is in seconds."""
    if chores.sweep is not None:
        _register_sweep(app, chores, chores.sweep)
    if chores.deliver is not None:
        _register_deliver(app, chores, chores.deliver)
    if chores.run_job is not None:
        _register_jobs(app, chores, chores.run_job)
    _register_rescue(app, chores, stalled)


def _register_sweep(app: procrastinate.App, chores: Chores, work: Work[object]) -> None:
    queue = queue_of(SWEEP, chores.workspace)

    # One at a time: the lock lets the next one start only when it has ended.
    @app.periodic(cron=EVERY_SECOND, periodic_id=queue)
    @app.task(name=SWEEP, queue=queue, queueing_lock=queue, lock=queue)
    async def sweep(timestamp: int = 0) -> None:  # noqa: ARG001 - given by the server
        await chores.under_way.do("queue", lambda: beside(work))


def _register_deliver(
    app: procrastinate.App, chores: Chores, work: Callable[[str], Coroutine[Any, Any, None]]
) -> None:
    queue = queue_of(DELIVER, chores.workspace)

    @app.periodic(cron=EVERY_TWO_SECONDS, periodic_id=queue)
    @app.task(name=DELIVER, queue=queue, queueing_lock=queue, pass_context=True)
    async def deliver(context: JobContext, timestamp: int = 0) -> None:  # noqa: ARG001
        await chores.under_way.do("outbox", lambda: work(_owner(context)))


def _register_jobs(
    app: procrastinate.App,
    chores: Chores,
    run_job: Callable[[str, str], Coroutine[Any, Any, JobState | None]],
) -> None:
    queue = queue_of(JOB, chores.workspace)

    @app.task(name=JOB, queue=queue, pass_context=True)
    async def job(context: JobContext, timestamp: int = 0, name: str = "") -> None:  # noqa: ARG001
        state = await chores.under_way.do(
            "jobs", lambda: beside(lambda: run_job(_owner(context), name))
        )
        if state is not None and state.failures:
            logger.warning("the job %s failed: %s", state.name, state.message)

    for name in chores.job_names:
        lock = f"{queue}-{name}"
        app.periodic(
            cron=EVERY_HALF_MINUTE,
            periodic_id=lock,
            task_kwargs={"name": name},
            queueing_lock=lock,
            lock=lock,
        )(job)


def _register_rescue(app: procrastinate.App, chores: Chores, stalled: float) -> None:
    queue = queue_of(RESCUE, chores.workspace)

    @app.periodic(cron=EVERY_TWO_SECONDS, periodic_id=queue)
    @app.task(name=RESCUE, queue=queue, queueing_lock=queue)
    async def rescue(timestamp: int = 0) -> None:  # noqa: ARG001 - given by the server
        await _guarded("workers", lambda: chores.release(stalled))
        for lost in await app.job_manager.get_stalled_jobs(seconds_since_heartbeat=stalled):
            if lost.queue in chores.queues():
                await _start_again(app, lost)


async def _start_again(app: procrastinate.App, lost: Job) -> None:
    """Put a dead worker's job into the queue anew, under another number.

    With its old number the dead one, should it wake, could end what another is doing by then.
    """
    try:
        await app.job_manager.finish_job(lost, status=Status.FAILED, delete_job=True)
    except ConnectorException:  # another worker was first
        return
    again = app.configure_task(
        lost.task_name, queue=lost.queue, lock=lost.lock, queueing_lock=lost.queueing_lock
    )
    with suppress(AlreadyEnqueued):
        await again.defer_async(**lost.task_kwargs)
    name = lost.task_kwargs.get("name", "")
    logger.warning("a worker that had begun %s %s is gone; it starts again", lost.task_name, name)


def _owner(context: JobContext) -> str:
    return f"{WORKER}{context.job.worker_id}"


async def _guarded(what: str, work: Work[T]) -> T | None:
    """Do it; an error is told without quoting data, and the next time comes soon."""
    try:
        return await work()
    except SurelineError as error:
        logger.warning("%s: %s", what, error.message)
    except Exception as error:  # noqa: BLE001 - the boundary: one fault must not end the worker
        logger.warning("%s: %s", what, type(error).__name__)
    return None


async def beside(work: Work[T]) -> T:
    """Do it on a thread with a loop of its own: computing must not stop the worker's heart."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[T] = loop.create_future()

    def tell(put: Callable[[Any], None], value: object) -> None:
        def arrive() -> None:
            if not ended.done():
                put(value)

        with suppress(RuntimeError):  # the worker did not wait for it, and its loop is closed
            loop.call_soon_threadsafe(arrive)

    def run() -> None:
        try:
            found = asyncio.run(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where it is waited for
            tell(ended.set_exception, error)
        else:
            tell(ended.set_result, found)

    threading.Thread(target=run, name="sureline-chore", daemon=True).start()
    return await ended
