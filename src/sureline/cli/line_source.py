"""Read lines as they come: all that are there already, and never waiting for one too many."""

from __future__ import annotations

import os
import select
import stat
from collections import deque
from collections.abc import Iterator
from typing import IO, Protocol

_BLOCK = 1 << 16

Line = tuple[int, bytes]
"""A line's number, from 1, and its bytes without the end."""


class Stream(Protocol):
    """What is read: standard input or a file, in binary."""

    def read1(self, size: int = -1, /) -> bytes:
        """Return what is there, at most `size` bytes; wait only if nothing is; b"" at the end."""

    def fileno(self) -> int:
        """Return the number of the file behind it."""


class LineSource:
    """The lines of a stream that are not blank; of an overlong one only its start is kept.

    `longest` is in bytes; a line that is cut has one byte more.
    """

    def __init__(self, stream: Stream, *, longest: int) -> None:
        self._stream = stream
        self._kept = longest + 1
        self._regular = is_regular(stream)
        self._number = 0
        self._begun = bytearray()
        self._lines: deque[Line] = deque()
        self._ended = False

    def batches(self, most: int) -> Iterator[list[Line]]:
        """Yield lines, up to `most` at once; a line that stands alone is not kept waiting."""
        while True:
            while not self._ended and (
                not self._lines or (len(self._lines) < most and self._has_more())
            ):
                self._read()
            if not self._lines:
                return
            yield [self._lines.popleft() for _ in range(min(most, len(self._lines)))]

    def _has_more(self) -> bool:
        """Tell whether reading would not wait; where that cannot be known, it would."""
        if self._regular:
            return True
        try:
            return bool(select.select([self._stream], [], [], 0)[0])
        except (OSError, ValueError):  # no file behind it, or a system that waits for sockets only
            return False

    def _read(self) -> None:
        data = self._stream.read1(_BLOCK)
        if not data:
            self._ended = True
            if self._begun:
                self._end_line()
            return
        *whole, rest = data.split(b"\n")
        for part in whole:
            self._keep(part)
            self._end_line()
        self._keep(rest)

    def _keep(self, part: bytes) -> None:
        self._begun += part[: max(0, self._kept - len(self._begun))]

    def _end_line(self) -> None:
        self._number += 1
        line = bytes(self._begun).rstrip(b"\r")
        self._begun.clear()
        if line.strip():
            self._lines.append((self._number, line))


def is_regular(stream: Stream | IO[bytes]) -> bool:
    """Tell whether a stream is a file on a disk, with all of its lines there."""
    try:
        return stat.S_ISREG(os.fstat(stream.fileno()).st_mode)
    except (OSError, ValueError):
        return False


def line_count(stream: IO[bytes]) -> int:
    """Return about how many lines are left in a file on a disk, and go back to where it was."""
    start = stream.tell()
    count = sum(block.count(b"\n") for block in iter(lambda: stream.read(_BLOCK), b""))
    stream.seek(start)
    return count
