"""Reads a pack of evidence that anyone may have made: nothing in it decides how much is read."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import IO

from sureline.core.evidence_manifest import Listed
from sureline.errors import InvalidInput

MOST_FILES = 64
MOST_BYTES = 64 << 20
"""Of a file that is read at once."""
MOST_LINE = 64 << 20
MOST_RATIO, FREE = 300, 1 << 20
"""A file that is so many times as long as it is packed, beyond the first bytes, is a bomb."""
_CHUNK = 1 << 20
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


class ZipReader:
    """Reads an open archive; see the port `PackReader`. Raises InvalidInput for a foreign one."""

    def __init__(self, archive: zipfile.ZipFile, where: str) -> None:
        self._archive = archive
        self.where = where
        self._entries = {entry.filename: entry for entry in archive.infolist()}
        if len(self._entries) != len(archive.infolist()):
            raise InvalidInput("two files of one name", field=where)
        if len(self._entries) > MOST_FILES:
            raise InvalidInput("more files than any pack has", field=where)
        for name, entry in self._entries.items():
            if entry.compress_type not in _PACKED:
                raise InvalidInput("packed otherwise than in any pack", field=self._at(name))
            if entry.file_size > FREE + MOST_RATIO * entry.compress_size:
                raise InvalidInput(
                    "far longer than it is packed: not unpacked", field=self._at(name)
                )

    def listed(self) -> Mapping[str, Listed]:
        """Read every file once and return its length and digest."""
        return {name: self._listed(name) for name in self._entries}

    def read(self, name: str) -> bytes:
        """Return a small file. Raises InvalidInput if it is not there or too long."""
        with self._opened(name) as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise InvalidInput("longer than it may be", field=self._at(name))
        return data

    def lines(self, name: str) -> Iterator[str]:
        """Yield a file's lines, one in memory at a time."""
        with self._opened(name) as file:
            number = 0
            while line := file.readline(MOST_LINE + 1):
                number += 1
                if len(line) > MOST_LINE:
                    raise InvalidInput(f"line {number} is too long", field=self._at(name))
                try:
                    yield line.decode("utf-8").removesuffix("\n")
                except UnicodeDecodeError:
                    raise InvalidInput(
                        f"line {number} is not UTF-8", field=self._at(name)
                    ) from None

    def has(self, name: str) -> bool:
        """Tell whether there is such a file."""
        return name in self._entries

    def _listed(self, name: str) -> Listed:
        digest, size = sha256(), 0
        with self._opened(name) as file:
            while part := file.read(_CHUNK):
                digest.update(part)
                size += len(part)
        return Listed(size=size, sha256=digest.hexdigest())

    @contextmanager
    def _opened(self, name: str) -> Iterator[IO[bytes]]:
        entry = self._entries.get(name)
        if entry is None:
            raise InvalidInput("is missing; this is no pack of evidence", field=self._at(name))
        try:
            with self._archive.open(entry) as file:
                yield file
        except _BROKEN as error:
            raise InvalidInput(f"damaged ({error})", field=self._at(name)) from None

    def _at(self, name: str) -> str:
        return f"{self.where}: {name}"


@contextmanager
def reading_pack(path: Path) -> Iterator[ZipReader]:
    """Open a pack. Raises InvalidInput naming the file."""
    try:
        archive = zipfile.ZipFile(path)
    except _BROKEN as error:
        reason = (
            error.strerror if isinstance(error, OSError) else f"no ZIP file, or cut off ({error})"
        )
        raise InvalidInput(str(reason), field=str(path)) from None
    with archive:
        yield ZipReader(archive, str(path))
