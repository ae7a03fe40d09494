"""`sureline mission run`: drive a command until its mission is over."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from sureline.application.ports.clock import Clock
from sureline.application.ports.processes import storable
from sureline.bootstrap import Services, environment_plugins, open_services, working
from sureline.bootstrap.supervising import (
    Supervision,
    check_startable,
    prepared,
    read_mission_file,
    supervising,
)
from sureline.cli.options import StoreOption, WorkspaceOption
from sureline.cli.outlet import Outlet, stream_writer
from sureline.cli.output import note
from sureline.cli.session import note_upgrade, warn_if_forgetful
from sureline.core.values.mission import Mission, MissionState
from sureline.errors import InvalidInput, Refused

_SIGNALLED = 128
"""A shell's way to say that a signal ended a program: this and the signal's number."""
MOST_LOGGED = 50_000_000
"""Bytes of a file of --log, after which nothing more is written to it."""
Tell = Callable[[Mapping[str, Any]], None]


def run(
    command: Annotated[
        list[str], typer.Argument(metavar="COMMAND...", help="What is invoked; put it after --.")
    ],
    config: Annotated[
        Path, typer.Option("--config", help="The mission: a file such as mission.yaml.")
    ],
    log: Annotated[
        Path | None,
        typer.Option(
            "--log", help="Append what the command writes to this file (default: standard error)."
        ),
    ] = None,
    deliver: Annotated[
        bool,
        typer.Option(
            "--deliver/--no-deliver",
            help="Tell the policy's channels from this process, or leave it to a server or worker.",
        ),
    ] = True,
    store: StoreOption = None,
    workspace: WorkspaceOption = "default",
) -> None:
    """Invoke a command by its trigger until its mission is completed (0) or failed (1).

    What happens is written to standard output, one JSON object a line. While the mission is
    suspended nothing is invoked; it goes on when a person resumes it. SIGTERM or Ctrl-C ends the
    command and this; the same call goes on from there. See docs/howto/supervise-an-agent.md.
    """
    file = read_mission_file(config)
    check_startable(file, command)
    services = open_services(store, workspace=workspace, plugins=environment_plugins())
    warn_if_forgetful(services)
    note_upgrade(services)
    try:
        with (
            _told(services.clock) as tell,
            _sink(log, tell) as sink,
            working(services, jobs=False, deliver=deliver),
        ):
            code = asyncio.run(_supervised(services, file, command, sink, tell))
    finally:
        services.close()
    if code:
        raise typer.Exit(code)


async def _supervised(
    services: Services,
    file: Any,
    command: list[str],
    sink: Callable[[bytes], None],
    tell: Tell,
) -> int:
    """Return the exit code."""
    stopping, heard = asyncio.Event(), list[int]()
    supervision = Supervision(file=file, command=command, tell=tell, sink=sink, stopping=stopping)
    mission, notes = await prepared(services, file)
    for one in notes:
        note(one)
    with _signals(stopping, heard):
        events = await services.missions.events(mission.id)
        kind = await services.missions.kinds.of(mission)
        _begin(mission, tell)
        with supervising(services, supervision, mission, events, kind.lease_seconds) as supervisor:
            mission = await supervisor.run()
    if mission.state.is_over:
        return 0 if mission.state is MissionState.COMPLETED else Refused.exit_code
    name = signal.Signals(heard[0]).name
    tell({"event": "stopping", "mission_id": mission.id, "signal": name})
    return _SIGNALLED + heard[0]


@contextmanager
def _signals(stopping: asyncio.Event, heard: list[int]) -> Iterator[None]:
    """Set `stopping` at the first SIGTERM or SIGINT; the second acts as usual."""
    loop = asyncio.get_running_loop()
    both = (signal.SIGTERM, signal.SIGINT)

    def told(number: int) -> None:
        heard.append(number)
        stopping.set()
        for one in both:
            loop.remove_signal_handler(one)

    for one in both:
        loop.add_signal_handler(one, told, one)
    try:
        yield
    finally:
        for one in both:
            loop.remove_signal_handler(one)


@contextmanager
def _told(clock: Clock) -> Iterator[Tell]:
    """Yield what tells an event; who does not read them stops nothing."""
    outlet = Outlet(stream_writer(sys.stdout))

    def tell(event: Mapping[str, Any]) -> None:
        dated = {"at": clock.now().isoformat(), **event}
        line = (
            json.dumps(
                {"event": dated.pop("event"), **dated}, ensure_ascii=True, separators=(",", ":")
            )
            + "\n"
        )
        outlet.put(line.encode())

    try:
        yield tell
    finally:
        outlet.close()


@contextmanager
def _sink(log: Path | None, tell: Tell) -> Iterator[Callable[[bytes], None]]:
    """Yield what takes the command's output: never standard output, which holds events alone."""
    with ExitStack() as entered:
        if log is None:
            write = stream_writer(sys.stderr)
        else:
            try:
                opened = entered.enter_context(log.open("ab", buffering=0))
            except OSError as error:
                raise InvalidInput(f"{log}: cannot be written: {error.strerror}") from error
            full = {"event": "log_full", "file": storable(str(log)), "bytes": MOST_LOGGED}
            write = _bounded(opened, lambda: tell(full))
        outlet = Outlet(write)
        try:
            yield lambda data: outlet.put(data, wait=True)
        finally:
            outlet.close()


def _bounded(opened: Any, full: Callable[[], None]) -> Callable[[bytes], None]:
    """Return what writes to a file until it is full, and says so once."""
    told = False

    def write(data: bytes) -> None:
        nonlocal told
        if opened.tell() + len(data) <= MOST_LOGGED and not told:
            while data:
                data = data[opened.write(data) :]
        elif not told:
            told = True
            full()

    return write


def _begin(mission: Mission, tell: Tell) -> None:
    tell(
        {
            "event": "supervising",
            "mission_id": mission.id,
            "state": mission.state.value,
            "cause": mission.cause.value,
            "invocation": mission.invocations,
        }
    )
