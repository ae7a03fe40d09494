"""Read a text file line by line, so that a bad byte is reported with its line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sureline.application.ports.tables import OnFault
from sureline.errors import InvalidInput

CHUNK = 16_384
"""Rows in a chunk."""


_BLOCK = 1 << 20


def decoded_lines(path: Path, on_fault: OnFault | None = None) -> Iterator[str]:
    """Yield the lines of a UTF-8 file with their ends; a byte order mark is dropped.

    With `on_fault`, a line that is not UTF-8 is told to it and is empty.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                fault(
                    number,
                    InvalidInput(
                        f"{path.name}, line {number}: expected UTF-8, got byte "
                        f"0x{line[error.start]:02x} at position {error.start + 1}"
                    ),
                    on_fault,
                )
                yield "\n"


def fault(place: int, error: InvalidInput, on_fault: OnFault | None) -> None:
    """Tell a row's fault to whoever wants to know; raise it where nobody does."""
    if on_fault is None:
        raise error
    on_fault(place, error)


def counted_lines(path: Path) -> int:
    """Return the number of lines of a file, read in blocks."""
    count, last = 0, b"\n"
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            count += block.count(b"\n")
            last = block[-1:]
    return count + (last != b"\n")
