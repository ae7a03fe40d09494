"""Reads a pack of evidence that anyone may have made: nothing in it decides how much is read."""

from __future__ import annotations

import stat
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
_ENCRYPTED = 0x1
_PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


class ZipReader:
    """Reads an open archive; see the port `PackReader`. Raises InvalidInput for a foreign one."""

    def __init__(self, archive: zipfile.ZipFile, where: str) -> None:
        self._archive = archive
        self.where = where
        self._entries: dict[str, zipfile.ZipInfo] = {}
        if len(archive.infolist()) > MOST_FILES:
            raise InvalidInput("more files than any pack has", field=where)
        for entry in archive.infolist():
            said = _refusal(entry)
            if entry.filename in self._entries:
                said = "two files of this name"
            if said is not None:
                raise InvalidInput(said, field=self._at(entry.filename))
            self._entries[entry.filename] = entry
        if min((one.header_offset for one in archive.infolist()), default=0) or archive.comment:
            raise InvalidInput("something stands around the files of the archive", field=where)

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


def _refusal(entry: zipfile.ZipInfo) -> str | None:
    """Say why a file can be none of a pack, None if it can be."""
    if entry.filename in {"", ".", ".."} or any(one in entry.filename for one in "/\\:"):
        return "no file of a pack lies in a folder"
    if stat.S_IFMT(entry.external_attr >> 16) not in {0, stat.S_IFREG}:
        return "a link or a device, where a pack has files"
    if entry.flag_bits & _ENCRYPTED:
        return "encrypted, where a pack is not"
    if entry.compress_type not in _PACKED:
        return "packed otherwise than in any pack"
    if entry.file_size > FREE + MOST_RATIO * entry.compress_size:
        return "far longer than it is packed: not unpacked"
    return None


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
