"""Programs that run beside this one, and what starts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


def storable(text: str) -> str:
    """Return a name as it can be stored; bytes of a file's name that are no UTF-8 are replaced."""
    return text.encode("utf-8", "replace").decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a program ended; `exit_code` is negative for the signal that ended it.

    `stdout` and `stderr` are the ends of what it wrote, `cut` the number of bytes before them.
    """

    exit_code: int
    stdout: str
    stderr: str
    cut: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NotStarted:
    """A program that could not be started, with the reason in words."""

    why: str


class Running(Protocol):
    """A program that was started, with all that it starts itself."""

    @property
    def pid(self) -> int:
        """Return its number, which is also that of its group."""

    async def wait(self) -> Ran:
        """Wait until it has ended and nothing that it started is left; may be asked again."""

    async def stop(self) -> Ran:
        """Ask the whole group to end, after the grace period make it, and say how it ended."""


class Processes(Protocol):
    """Starts programs, none of which outlives this one for longer than the grace period."""

    async def start(
        self, command: Sequence[str], variables: Mapping[str, str]
    ) -> Running | NotStarted:
        """Start a program in a group of its own, with these variables beside those of this one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handed:
    """Where a program finds what it is told, and may write what happened."""

    context: str
    evidence: str


class Exchange(Protocol):
    """Files between this program and the one that it starts."""

    def hand(self, context: str) -> Handed:
        """Write what an invocation is told, where no evidence is yet. Raises InvalidInput."""

    def evidence(self) -> bytes | None:
        """Return what the invocation wrote, None for nothing.

        Raises InvalidInput for too much, and for what is no file that can be read.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    """A reason to invoke now; `name` says what of, `file` is the file that it is about.

    The name can be stored; the file's is as the system has it.
    """

    name: str
    file: str | None = None


class Trigger(Protocol):
    """Says when there is a reason to invoke; asked several times a second.

    Raises InvalidInput that names the path where a file or folder cannot be used.
    """

    skips: bool
    """A firing that comes while an invocation runs is let go; otherwise it stays until taken."""

    def due(self, now: datetime, elapsed: float) -> Firing | None:
        """Return what is due, None for nothing; `elapsed` are seconds that nobody sets."""

    def take(self, firing: Firing, now: datetime) -> Firing | None:
        """Take it for the invocation that begins, None if another was first."""

    def done(self, firing: Firing, *, ok: bool | None) -> None:
        """Note that the invocation that took it has ended, and whether well.

        None: there was none, or it was ended before it was through; what it is about stays.
        """
