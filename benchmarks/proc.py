"""What a process holds, read from /proc (Linux)."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE")
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """One look at a process: memory in bytes, processor time in seconds."""

    at: float
    resident: int
    files: int
    threads: int
    processor: float


def look_at(pid: int) -> Held:
    """Return what a process holds now. Raises OSError if it is gone."""
    place = Path("/proc", str(pid))
    fields = (place / "stat").read_text().rpartition(")")[2].split()
    return Held(
        at=time.monotonic(),
        resident=int((place / "statm").read_text().split()[1]) * _PAGE,
        files=len([*(place / "fd").iterdir()]),
        threads=int(fields[17]),
        processor=(int(fields[11]) + int(fields[12])) / _TICK,
    )


def children_of(pid: int) -> list[int]:
    """Return the processes that a process started."""
    said = Path("/proc", str(pid), "task", str(pid), "children").read_text()
    return [int(one) for one in said.split()]
