"""Read the lines of a ledger export, packed with gzip or not, one in memory at a time."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from sureline.errors import InvalidInput

MOST_LINE = 256 << 20
"""A longer line is no row of a ledger."""
_GZIP = b"\x1f\x8b"


def export_lines(file: Path) -> Iterator[str]:
    """Yield the lines. Raises InvalidInput naming the file, and the line where it is one."""
    try:
        with file.open("rb") as raw:
            packed = raw.read(2) == _GZIP
            raw.seek(0)
            if packed:
                with gzip.GzipFile(fileobj=raw) as lines:
                    yield from _lines(lines, file)
            else:
                yield from _lines(raw, file)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidInput(f"{file}: damaged, or cut off ({error})") from None
    except OSError as error:
        raise InvalidInput(f"{file}: cannot open the file: {error.strerror}") from None


def _lines(opened: IO[bytes] | gzip.GzipFile, file: Path) -> Iterator[str]:
    number = 0
    while line := opened.readline(MOST_LINE + 1):
        number += 1
        if len(line) > MOST_LINE:
            raise InvalidInput(f"{file}: line {number} is too long for a row of a ledger")
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{file}: line {number}: not UTF-8 at byte {error.start}") from None
        if number == 1 and not _is_row(text):
            raise InvalidInput(
                f"{file}: not an export of `sureline ledger export`: line 1 is no row of a ledger"
            )
        yield text


def _is_row(text: str) -> bool:
    """Tell whether a line is meant as a row: of another kind of file nothing can be said."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and not {"stream", "seq", "hash"}.isdisjoint(found)
