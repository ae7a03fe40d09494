"""`sureline mission run`: drive a command until its mission is over."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from sureline.bootstrap import Services, environment_plugins, open_services, working
from sureline.bootstrap.supervising import Supervision, prepared, read_mission_file, supervising
from sureline.cli.options import StoreOption, WorkspaceOption
from sureline.cli.output import note
from sureline.cli.session import note_upgrade, warn_if_forgetful
from sureline.core.values.mission import Mission, MissionState
from sureline.errors import Refused

_SIGNALLED = 128
"""A shell's way to say that a signal ended a program: this and the signal's number."""


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
    services = open_services(store, workspace=workspace, plugins=environment_plugins())
    warn_if_forgetful(services)
    note_upgrade(services)
    try:
        with _sink(log) as sink, working(services, jobs=False, deliver=deliver):
            code = asyncio.run(_supervised(services, file, command, sink))
    finally:
        services.close()
    if code:
        raise typer.Exit(code)


async def _supervised(
    services: Services, file: Any, command: list[str], sink: Callable[[bytes], None]
) -> int:
    """Return the exit code."""
    stopping, heard = asyncio.Event(), list[int]()
    supervision = Supervision(file=file, command=command, tell=_tell, sink=sink, stopping=stopping)
    mission, notes = await prepared(services, file)
    for one in notes:
        note(one)
    with _signals(stopping, heard):
        events = await services.missions.events(mission.id)
        kind = await services.missions.kinds.of(mission)
        _begin(mission)
        with supervising(services, supervision, mission, events, kind.lease_seconds) as supervisor:
            mission = await supervisor.run()
    if mission.state.is_over:
        return 0 if mission.state is MissionState.COMPLETED else Refused.exit_code
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
def _sink(log: Path | None) -> Iterator[Callable[[bytes], None]]:
    """Yield what takes the command's output: never standard output, which holds events alone."""
    if log is None:
        yield _to_stderr
        return
    with log.open("ab", buffering=0) as opened:
        yield lambda data: _written(opened.write, data)


def _to_stderr(data: bytes) -> None:
    sys.stderr.buffer.write(data)
    sys.stderr.buffer.flush()


def _written(write: Callable[[bytes], Any], data: bytes) -> None:
    while data:
        data = data[write(data) :]


def _begin(mission: Mission) -> None:
    _tell(
        {
            "event": "supervising",
            "mission_id": mission.id,
            "state": mission.state.value,
            "cause": mission.cause.value,
            "invocation": mission.invocations,
        }
    )


def _tell(event: Mapping[str, Any]) -> None:
    sys.stdout.write(json.dumps(event, ensure_ascii=True, separators=(",", ":")) + "\n")
    sys.stdout.flush()
