"""Output to where nobody reads, or nobody is any more."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from sureline.cli.mission_run import MOST_LOGGED, _bounded
from sureline.cli.outlet import Outlet


def test_who_does_not_read_is_not_waited_for() -> None:
    """Ten thousand pieces are taken while the first is still being written."""
    go = threading.Event()
    outlet = Outlet(lambda data: go.wait(30.0))
    for _ in range(10_000):
        outlet.put(b"x")
    go.set()
    outlet.close()


def test_who_is_gone_is_no_error() -> None:
    """A pipe that nobody holds loses what is written."""
    reading, writing = os.pipe()
    os.close(reading)
    outlet = Outlet(lambda data: os.write(writing, data))
    for _ in range(10):
        outlet.put(b"x", wait=True)
    outlet.close()
    os.close(writing)


def test_a_log_that_is_full_says_so_once(tmp_path: Path) -> None:
    """Nothing more is written to it."""
    said: list[int] = []
    with (tmp_path / "log").open("ab", buffering=0) as opened:
        opened.truncate(MOST_LOGGED - 5)
        opened.seek(0, os.SEEK_END)
        write = _bounded(opened, lambda: said.append(1))
        for _ in range(3):
            write(b"four")
    assert (tmp_path / "log").stat().st_size == MOST_LOGGED - 1
    assert said == [1]
