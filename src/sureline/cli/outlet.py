"""Write to where nobody may be reading, without ever waiting for them."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

_MOST = 256
"""So many pieces wait to be written; what comes when there are as many is dropped."""
_PATIENCE = 0.5
_LAST_SECONDS = 1.0

Write = Callable[[bytes], Any]


def stream_writer(stream: Any) -> Write:
    """Return what writes to a standard stream, past its buffer: that may be locked at the end."""
    if stream is None:  # it was closed before this program began
        return len  # takes it, and nothing comes of it
    try:
        number = stream.fileno()
    except (OSError, ValueError):
        buffer = stream.buffer
        return lambda data: (buffer.write(data), buffer.flush())

    def write(data: bytes) -> None:
        while data:
            data = data[os.write(number, data) :]

    return write


class Outlet:
    """Takes pieces of output from any thread and writes them in one of its own.

    A reader that is slow is waited for, half a second at most and only with `wait`; one that does
    not read at all, or is gone, loses what is written.
    """

    def __init__(self, write: Write) -> None:
        self._write = write
        self._pieces: queue.Queue[bytes | None] = queue.Queue(_MOST)
        self._stuck = False
        self._broken = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def put(self, data: bytes, *, wait: bool = False) -> None:
        """Have it written, or drop it."""
        if self._broken:
            return
        try:
            if wait and not self._stuck:
                self._pieces.put(data, timeout=_PATIENCE)
            else:
                self._pieces.put_nowait(data)
        except queue.Full:
            self._stuck = True
        else:
            self._stuck = False

    def close(self) -> None:
        """Write what is left, for a second at most."""
        with suppress(queue.Full):
            self._pieces.put(None, timeout=_PATIENCE)
            self._thread.join(_LAST_SECONDS)

    def _run(self) -> None:
        while (data := self._pieces.get()) is not None:
            try:
                if not self._broken:
                    self._write(data)
            except (OSError, ValueError):  # nobody is there any more
                self._broken = True
