"""`sureline worker`: do what is done without being asked, without answering over HTTP."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import Annotated

import typer

from sureline.bootstrap import environment_plugins, open_services, working
from sureline.cli.log_options import LogFormatOption, LogLevelOption, notes
from sureline.cli.options import StoreOption, WorkspaceOption
from sureline.cli.session import note_upgrade, warn_if_forgetful
from sureline.errors import OtherSchema
from sureline.web.log_format import LogFormat, LogLevel

_LOOK_SECONDS = 0.2


def worker(
    concurrency: Annotated[
        int,
        typer.Option(
            "--concurrency",
            min=1,
            max=64,
            help="How many things to do at once, on PostgreSQL; on a file one after the other.",
        ),
    ] = 4,
    log_format: LogFormatOption = LogFormat.TEXT,
    log_level: LogLevelOption = LogLevel.WARNING,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
) -> None:
    """Run the periodic jobs, keep deadlines and tell the channels, until told to stop.

    On PostgreSQL any number of workers share the work, on any machines; one that dies is noticed
    within seconds, and another goes on. Give servers --no-jobs --no-deliver then. On a file it is
    what `sureline serve` does beside answering.

    SIGTERM or Ctrl-C ends it once what is under way is finished (exit code 0); the same signal
    again ends it at once. While the database is away it waits; once its tables are another
    version's it ends (exit code 3). See docs/howto/run-workers.md.
    """
    from sureline.web.log_format import log_to_stderr

    tell = notes(log_format)
    services = open_services(
        store, workspace=workspace, plugins=environment_plugins(), create=False
    )
    warn_if_forgetful(services, tell)
    note_upgrade(services, tell)
    wrong: list[OtherSchema] = []
    try:
        log_to_stderr(log_format, log_level)
        with told_to_stop() as stop:

            def ended(error: OtherSchema) -> None:
                wrong.append(error)
                stop.put(None)

            with working(services, jobs=True, deliver=True, concurrency=concurrency, ended=ended):
                shared = f", {concurrency} at once" if services.store.on_postgres else ""
                tell(
                    f"working on {services.store.database.where}, workspace {workspace}: periodic "
                    f"jobs, deadlines, telling the channels{shared}"
                )
                _wait(stop)
                tell("stopping: what is under way is finished first")
            tell("stopped")
        if wrong:
            raise wrong[0]
    finally:
        services.close()


@contextmanager
def told_to_stop() -> Iterator[SimpleQueue[None]]:
    """Return what the first SIGTERM or SIGINT puts something into; the second acts as usual.

    Of what threads wait for, only this queue may be filled by a signal's handler: an event's lock
    may be held by the very thread that the handler interrupts, and then neither would go on.
    """
    stop: SimpleQueue[None] = SimpleQueue()
    usual = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}

    def put_back() -> None:
        for number, handler in usual.items():
            signal.signal(number, handler)

    def told(*_: object) -> None:
        put_back()
        stop.put(None)

    for number in usual:
        signal.signal(number, told)
    try:
        yield stop
    finally:
        put_back()


def _wait(stop: SimpleQueue[None]) -> None:
    """Wait until there is something.

    A signal that comes between two of Python's looks and the start of a wait does not end that
    wait, so no wait is long.
    """
    while True:
        with suppress(Empty):
            return stop.get(timeout=_LOOK_SECONDS)
