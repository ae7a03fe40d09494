"""Run `sureline mission run` as a process, with small real commands, and read what it tells."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

SECONDS = 30.0
"""No step takes longer, however slow the machine."""

RUN = ("mission", "run", "--config", "mission.yaml", "--no-deliver", "--")
POLICY = """
version: 1
slices: {invoices: {}}
missions:
  books: {judge: {model: "two:sceptic-1"}, evaluate_every: 2, lease_seconds: 2, max_invocations: 20}
"""


@dataclass
class Supervisor:
    """A running supervisor; `lines` are the events that it has told and that were read."""

    process: subprocess.Popen[str]
    lines: list[dict[str, Any]] = field(default_factory=list)
    _coming: SimpleQueue[dict[str, Any] | None] = field(default_factory=SimpleQueue)

    def __post_init__(self) -> None:
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as told:
            for line in told:
                self._coming.put(json.loads(line))  # anything but JSON lines ends the reading
        self._coming.put(None)

    def close(self) -> None:
        """End it, however it stands."""
        self.process.kill()
        self.process.wait()
        self._reader.join(SECONDS)

    def until(self, event: str, **facts: Any) -> dict[str, Any]:
        """Return the next event of that name with these values."""
        for one in self._next():
            if one["event"] == event and facts.items() <= one.items():
                return one
        raise AssertionError(f"it ended without {event} {facts}: {self.lines}")

    def _next(self) -> Iterator[dict[str, Any]]:
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                one = self._coming.get(timeout=max(0.0, deadline - time.monotonic()))
            except Empty:
                raise AssertionError(f"nothing more was told: {self.lines}") from None
            if one is None:
                return
            self.lines.append(one)
            yield one

    def ended(self) -> int:
        """Read to the end and return the exit code."""
        for _ in self._next():
            pass
        return self.process.wait(SECONDS)

    def named(self, event: str) -> list[dict[str, Any]]:
        """Return the events of that name so far."""
        return [one for one in self.lines if one["event"] == event]


def write_mission(folder: Path, mission: str) -> None:
    """Write a mission's file with this at its end, and a policy."""
    (folder / "policy.yaml").write_text(POLICY)
    head = "id: m1\nkind: books\npolicy: policy.yaml\nobjective: Close the six disputes.\n"
    (folder / "mission.yaml").write_text(head + "grace_seconds: 0.5\n" + mission)


@contextmanager
def supervising(folder: Path, mission: str, *command: str) -> Iterator[Supervisor]:
    """Start a supervisor in a folder, with a mission's file; it is killed at the end."""
    write_mission(folder, mission)
    environment = {**os.environ, "SURELINE_STORE": "sqlite:///sureline.db"}
    with (folder / "errors.txt").open("a") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "sureline", *RUN, *command],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    supervisor = Supervisor(process)
    try:
        yield supervisor
    finally:
        supervisor.close()


def wait_until(true: Callable[[], bool]) -> None:
    """Wait until something is true, and fail where it does not become so."""
    deadline = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < deadline, "it did not come true"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    """Tell whether a process runs; what has ended and was not asked for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


def told_to_end(process: subprocess.Popen[str]) -> None:
    """Send SIGTERM."""
    process.send_signal(signal.SIGTERM)
