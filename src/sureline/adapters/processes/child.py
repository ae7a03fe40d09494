"""Start programs, keep the ends of what they write, and leave nothing of them behind."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from sureline.adapters.processes.group import ended, is_left
from sureline.adapters.processes.watchdog import Watchdog
from sureline.application.ports.processes import NotStarted, Ran

TAIL_BYTES = 8_000
"""Of each of a program's two outputs so much is kept."""
_CHUNK = 65_536
_LOOK_SECONDS = 0.02
_OWN = "SURELINE_"

Sink = Callable[[bytes], None]


class Tail:
    """The end of what was written; `cut` counts the bytes before it."""

    def __init__(self) -> None:
        self._kept = b""
        self.cut = 0

    def add(self, data: bytes) -> None:
        """Take in what was written next."""
        whole = self._kept + data
        self._kept = whole[-TAIL_BYTES:]
        self.cut += len(whole) - len(self._kept)

    def text(self) -> str:
        """Return it; bytes that are no UTF-8 are replaced."""
        return self._kept.decode("utf-8", "replace")


class Children:
    """Starts programs one after the other; `sink` takes all that they write.

    A program has this one's variables but for those of sureline's own, in which the store and
    secrets stand, and a group of its own, which ends within `grace` seconds. What makes itself a
    daemon (setsid) leaves the group: it is not ended, and what it writes afterwards is not kept.
    """

    def __init__(self, *, grace: float, sink: Sink, folder: str | None = None) -> None:
        self._grace = grace
        self._sink = sink
        self._folder = folder
        self._watchdog = Watchdog(grace)

    async def start(
        self, command: Sequence[str], variables: Mapping[str, str]
    ) -> Child | NotStarted:
        """Start a program, or say why that is not possible."""
        kept = {name: one for name, one in os.environ.items() if not name.startswith(_OWN)}
        try:
            process = await asyncio.create_subprocess_exec(
                *command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**kept, **variables},
                cwd=self._folder,
                process_group=0,
            )
        except (OSError, ValueError) as error:
            return NotStarted(why=_why(command[0], error))
        self._watchdog.watch(process.pid)
        return Child(process, self._grace, self._sink, self._watchdog)

    def close(self) -> None:
        """Let go of what watches; nothing may be running any more."""
        self._watchdog.close()


class Child:
    """A program that was started, with all that it starts itself."""

    def __init__(
        self, process: asyncio.subprocess.Process, grace: float, sink: Sink, watchdog: Watchdog
    ) -> None:
        self._process = process
        self._grace = grace
        self._sink = sink
        self._watchdog = watchdog
        self._out, self._err = Tail(), Tail()
        assert process.stdout is not None
        assert process.stderr is not None
        self._readers = [
            asyncio.create_task(self._read(process.stdout, self._out)),
            asyncio.create_task(self._read(process.stderr, self._err)),
        ]
        self._ending = asyncio.create_task(self._end())

    @property
    def pid(self) -> int:
        """Return its number, which is also that of its group."""
        return self._process.pid

    async def wait(self) -> Ran:
        """Wait until it has ended and nothing that it started is left; may be asked again."""
        return await asyncio.shield(self._ending)

    async def stop(self) -> Ran:
        """Ask the whole group to end, after the grace period make it, and say how it ended."""
        if not self._ending.done():  # afterwards the number may be another's
            await ended(self.pid, self._grace)
        return await self.wait()

    async def _end(self) -> Ran:
        exit_code = await self._exit_code()
        if is_left(self.pid):
            await ended(self.pid, self._grace)
        self._watchdog.watch(None)
        # What left the group may hold the other end of a pipe for ever: nobody waits for that.
        with suppress(TimeoutError):
            async with asyncio.timeout(1.0):
                await asyncio.gather(*self._readers)
        return Ran(
            exit_code=exit_code,
            stdout=self._out.text(),
            stderr=self._err.text(),
            cut=self._out.cut + self._err.cut,
        )

    async def _exit_code(self) -> int:
        """Wait for the program itself: `Process.wait` waits for all that hold its pipes as well."""
        while (exit_code := self._process.returncode) is None:  # noqa: ASYNC110
            await asyncio.sleep(_LOOK_SECONDS)
        return exit_code

    async def _read(self, stream: asyncio.StreamReader, tail: Tail) -> None:
        while data := await stream.read(_CHUNK):
            tail.add(data)
            # In a thread: whoever reads our own output may be slow, and deadlines are kept here.
            await asyncio.to_thread(self._sink, data)


def why_not_startable(program: str) -> str | None:
    """Return why a program cannot be started, as far as that is known before; None if it can."""
    if shutil.which(program) is not None:
        return None
    is_there = "/" in program and os.path.isfile(program)  # noqa: PTH113 - as the system has it
    return _why(program, PermissionError() if is_there else FileNotFoundError())


def _why(program: str, error: OSError | ValueError) -> str:
    if isinstance(error, FileNotFoundError):
        return f"{program!r} was not found, or the folder to start it in was not"
    if isinstance(error, PermissionError):
        return f"{program!r} may not be executed; is it a program, with its x permission set?"
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"{program!r} cannot be started: {said}"
