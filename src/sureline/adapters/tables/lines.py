"""Read a text file line by line, so that a bad byte is reported with its line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sureline.adapters.tables.faults import Faults
from sureline.errors import InvalidInput

CHUNK = 16_384
"""Rows in a chunk."""


_BLOCK = 1 << 20


def decoded_lines(path: Path, faults: Faults) -> Iterator[str | None]:
    """Yield the lines of a UTF-8 file with their ends; a byte order mark is dropped.

    A line that is not UTF-8 is a fault; where that is only told, the line is None.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                byte, position = line[error.start], error.start + 1
                reason = f"expected UTF-8, got byte 0x{byte:02x} at position {position}"
                faults.at(number, InvalidInput(reason))
                yield None


def counted_lines(path: Path) -> int:
    """Return the number of lines of a file, read in blocks."""
    count, last = 0, b"\n"
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            count += block.count(b"\n")
            last = block[-1:]
    return count + (last != b"\n")
