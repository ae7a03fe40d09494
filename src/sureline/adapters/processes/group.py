"""A group of processes: whether any of it is left, and its end."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_LOOK_SECONDS = 0.02
_LAST_SECONDS = 5.0
"""How long a process may take to be gone after SIGKILL; one that hangs in the kernel takes more."""


def is_left(group: int) -> bool:
    """Tell whether a process of the group runs; what has ended and was not asked for does not."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    if not (_PROC / "self" / "stat").exists():
        return True
    return any(_is_of(one, group) for one in _PROC.iterdir() if one.name.isdigit())


def _is_of(process: Path, group: int) -> bool:
    try:
        # After the name, which may hold anything: state, parent, group.
        state, _, of = (
            (process / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()[:3]
        )
    except (OSError, ValueError):
        return False
    return state not in "ZX" and int(of) == group


async def ended(group: int, grace: float) -> None:
    """End a group: SIGTERM, and what is left after `grace` seconds SIGKILL."""
    for number, seconds in ((signal.SIGTERM, grace), (signal.SIGKILL, _LAST_SECONDS)):
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while is_left(group):  # noqa: ASYNC110 - the system tells nobody of its end
                    await asyncio.sleep(_LOOK_SECONDS)
                return
