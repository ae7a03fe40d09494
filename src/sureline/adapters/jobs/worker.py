"""A worker of the job server, on a thread with an event loop of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import procrastinate
import psycopg
from procrastinate.exceptions import ProcrastinateException

from sureline.adapters.jobs.tasks import Chores, register
from sureline.adapters.repeating import RepeatingThread
from sureline.errors import InvalidInput, OtherSchema, StoreUnavailable, SurelineError

logger = logging.getLogger(__name__)

_CONNECTIONS = 4
_LOOK_SECONDS = 0.1
_SIGNING_OFF = 10.0
_CUT_OFF = 5.0
"""How long what is under way may take to end where the database is gone, or time is up."""
_AWAY = "the database cannot be reached"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """How a worker works: `concurrency` jobs at once, times in seconds.

    Its heart beats every `heartbeat`; without one for `stalled` others take over what it had. When
    it is told to stop, what is under way may take `patience`. A database that is away is tried
    again every `again`.
    """

    concurrency: int = 4
    heartbeat: float = 2.0
    stalled: float = 10.0
    patience: float = 30.0
    again: float = 1.0

    def __post_init__(self) -> None:
        if self.concurrency < 1:
            raise InvalidInput("expected at least 1", field="concurrency")
        if not 0 < 2 * self.heartbeat < self.stalled:
            raise InvalidInput("expected more than two heartbeats", field="stalled")


class WorkerThread(RepeatingThread):
    """Works until told to stop; a database that is away is waited for.

    `check` says whether the store's tables are this version's, by raising OtherSchema if not; it is
    asked with each heartbeat. Once they are not, the thread ends, and `ended` is told why.
    """

    ended: Callable[[OtherSchema], None] | None = None

    def __init__(
        self,
        url: str,
        chores: Callable[[], Chores],
        *,
        settings: WorkerSettings,
        check: Callable[[], None],
    ) -> None:
        super().__init__(name="sureline-worker", tick=settings.again)
        self.stop_seconds = settings.patience + _SIGNING_OFF
        self._url, self._chores, self._settings, self._check = url, chores, settings, check
        self._complained: str | None = None

    def look(self) -> None:
        """Work until told to stop, or until the database is gone or another version's."""
        try:
            asyncio.run(self._work())
        except OtherSchema as error:
            self.stop()
            if self.ended is None:
                logger.warning("worker: %s; it has ended", error.message)
            else:
                self.ended(error)
        except (StoreUnavailable, psycopg.Error, ProcrastinateException, OSError):
            self._complain(_AWAY)
        except SurelineError as error:
            self._complain(error.message)
        else:
            if not self._stopping.is_set():
                self._complain(_AWAY)

    def _complain(self, said: str) -> None:
        """Say once what is wrong: it is tried again every second."""
        if said != self._complained:
            logger.warning("worker: %s; it goes on as soon as it can", said)
        self._complained = said

    async def _work(self) -> None:
        asyncio.get_running_loop().set_exception_handler(_unexpected)
        await asyncio.to_thread(self._check)
        chores = self._chores()
        app = app_of(self._url, chores, stalled=self._settings.stalled)
        async with app.open_async():
            self._complained = None
            working = asyncio.create_task(self._run(app, chores))
            wrong = None
            try:
                wrong = await self._watched(working)
            finally:
                # Before the worker signs off, with its heart beating: what it holds is its.
                is_told = self._stopping.is_set()
                await chores.stop(self._settings.patience if is_told else _CUT_OFF)
            await _stopped(working)
            if wrong is not None:
                raise wrong

    async def _watched(self, working: asyncio.Task[None]) -> OtherSchema | None:
        """Wait until it is time to stop, and say so if other tables are why."""
        clock = asyncio.get_running_loop().time
        due = clock() + self._settings.heartbeat
        while not self._stopping.is_set() and not working.done():
            await asyncio.wait({working}, timeout=_LOOK_SECONDS)
            if clock() < due:
                continue
            try:
                await asyncio.to_thread(self._check)
            except OtherSchema as error:
                return error
            except SurelineError:  # away or busy: the job server's own connections tell of that
                logger.debug("worker: the tables could not be looked at")
            due = clock() + self._settings.heartbeat
        return None

    async def _run(self, app: procrastinate.App, chores: Chores) -> None:
        settings = self._settings
        await app.run_worker_async(
            queues=chores.queues(),
            concurrency=settings.concurrency,
            fetch_job_polling_interval=settings.heartbeat,
            shutdown_graceful_timeout=_CUT_OFF,
            update_heartbeat_interval=settings.heartbeat,
            stalled_worker_timeout=settings.stalled,
            delete_jobs="always",
            install_signal_handlers=False,
        )


def app_of(url: str, chores: Chores, *, stalled: float) -> procrastinate.App:
    """Return a client of the job server that knows these chores; not open yet.

    Its own log lines carry tracebacks, which may quote data, and its pool's come once for each try:
    we say what happened in ours.
    """
    for name in ("procrastinate", "psycopg.pool"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    connector = procrastinate.PsycopgConnector(
        conninfo=url,
        min_size=1,
        max_size=_CONNECTIONS,
        timeout=max(1.0, stalled),
        kwargs={
            "application_name": "sureline-worker",
            "connect_timeout": 5,
            # A line that is dead without a word is found within seconds.
            "keepalives_idle": 5,
            "keepalives_interval": 2,
            "keepalives_count": 3,
            "tcp_user_timeout": 10_000,
        },
    )
    app = procrastinate.App(connector=connector)
    register(app, chores, stalled=stalled)
    return app


async def _stopped(working: asyncio.Task[None]) -> None:
    """Tell the worker to stop, and wait for what is under way; raise what ended it before."""
    if not working.done():
        working.cancel()
    try:
        await working
    except asyncio.CancelledError:
        return


def _unexpected(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:  # noqa: ARG001
    """Tell of what nobody waited for: the server would not note the end of a job.

    It was away, or another has taken the job over; what the job did is in the store's own rows.
    """
    kind = type(context.get("exception")).__name__
    logger.warning("worker: the end of a job was not noted (%s); it is begun again", kind)
