"""Writes a pack of evidence as a ZIP file whose bytes depend on nothing but its content."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from sureline.core.evidence_manifest import Listed
from sureline.errors import InvalidInput, Refused, StoreError

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The first moment that a ZIP file can name; the same for all files."""
_LEVEL = 6


class ZipWriter:
    """Takes files line by line; see the port `PackWriter`."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._listed: dict[str, Listed] = {}

    def add(self, name: str, lines: Iterable[str]) -> None:
        """Write a file of these lines, each with its end."""
        self._write(name, (f"{line}\n".encode() for line in lines))

    def add_bytes(self, name: str, data: bytes) -> None:
        """Write a file as it is."""
        self._write(name, (data,))

    def listed(self) -> Mapping[str, Listed]:
        """Return what was written so far."""
        return dict(self._listed)

    def _write(self, name: str, parts: Iterable[bytes]) -> None:
        entry = zipfile.ZipInfo(name, _EPOCH)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = 0o644 << 16
        entry.create_system = 3
        digest, size = sha256(), 0
        with self._archive.open(entry, "w", force_zip64=True) as file:
            for part in parts:
                file.write(part)
                digest.update(part)
                size += len(part)
        self._listed[name] = Listed(size=size, sha256=digest.hexdigest())


@contextmanager
def writing_pack(path: Path) -> Iterator[ZipWriter]:
    """Write a pack under another name, which it has only once it is whole and on the disk.

    Raises Refused if `path` is there already, InvalidInput if it cannot be made, StoreError if the
    disk is full.
    """
    if path.exists() or path.is_symlink():
        raise Refused(f"{path} is there already; a pack is never overwritten")
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        file = part.open("xb")
    except OSError as error:
        raise InvalidInput(f"cannot write: {error.strerror}", field=str(path)) from None
    try:
        with file:
            with zipfile.ZipFile(
                file, "w", compression=zipfile.ZIP_DEFLATED, compresslevel=_LEVEL
            ) as archive:
                yield ZipWriter(archive)
            file.flush()
            os.fsync(file.fileno())
        os.link(part, path)  # unlike a rename, it never replaces what came there meanwhile
    except FileExistsError:
        raise Refused(f"{path} is there already; a pack is never overwritten") from None
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)
