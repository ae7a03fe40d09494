"""Read a text file line by line, so that a bad byte is reported with its line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sureline.errors import InvalidInput

CHUNK = 16_384
"""Rows in a chunk."""


def decoded_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 file with their ends; a byte order mark is dropped."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise InvalidInput(
                    f"{path.name}, line {number}: expected UTF-8, got byte "
                    f"0x{line[error.start]:02x} at position {error.start + 1}"
                ) from error
