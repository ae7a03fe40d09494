"""Triggers that are files: one that changes, or a directory of them to be worked off."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from sureline.application.ports.processes import Firing, storable
from sureline.errors import InvalidInput

SETTLE_SECONDS = 1.0
"""A file must not have changed for so long: one half written is not ready."""
_LOOK_AGAIN_SECONDS = 60.0
"""Not every disk tells of every change, so the content is looked at now and then all the same."""
_PARTS = (".tmp", ".part", ".partial", ".swp", "~")
_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})
"""What a disk without locks says; there the store alone lets one invocation begin at a time."""
Stamp = tuple[int, int, int, int]


@dataclass(slots=True)
class _Settling:
    """What a file looked like, and since when it has done so."""

    stamp: Stamp | None = None
    since: float = 0.0

    def settled(self, stamp: Stamp | None, elapsed: float) -> bool:
        if stamp != self.stamp:
            self.stamp, self.since = stamp, elapsed
        return stamp is not None and elapsed - self.since >= SETTLE_SECONDS


class FileTrigger:
    """Fires when a file's content is another than the last time; at the start, when it is there.

    A change that comes while an invocation runs is not lost: it fires afterwards, once.
    """

    skips = False

    def __init__(self, path: Path) -> None:
        self._path = path
        self._settling = _Settling()
        self._looked: tuple[Stamp, float] | None = None
        self._found: str | None = None
        self._taken: str | None = None

    def due(self, now: datetime, elapsed: float) -> Firing | None:  # noqa: ARG002
        """Return what is due: content that is new and has settled."""
        stamp = _stamp(self._path)
        if stamp is None or not self._settling.settled(stamp, elapsed):
            return None
        if self._looked is None or self._is_old(self._looked, stamp, elapsed):
            self._looked = (stamp, elapsed)
            self._found = _digest(self._path)
        if self._found is None or self._found == self._taken:
            return None
        return Firing(name=storable(f"file {self._path.name}"), file=str(self._path))

    def take(self, firing: Firing, now: datetime) -> Firing | None:  # noqa: ARG002
        """Take the content as it is."""
        self._taken = self._found
        return firing

    def done(self, firing: Firing, *, ok: bool | None) -> None:
        """Forget it."""

    @staticmethod
    def _is_old(looked: tuple[Stamp, float], stamp: Stamp, elapsed: float) -> bool:
        return looked[0] != stamp or elapsed - looked[1] >= _LOOK_AGAIN_SECONDS


@dataclass(slots=True, kw_only=True)
class QueueTrigger:
    """Fires for each file of a directory, the oldest first.

    A file is claimed by being moved to `claimed/<mission>/`, so that of several missions on one
    directory one has it, and goes to `done/` or `failed/` afterwards. What is claimed and not
    finished, since this program or the invocation was ended, is offered again before all else.
    Hidden files and those named like half-written ones (.tmp, .part, ~) are left alone.
    """

    directory: Path
    mission: str
    skips: bool = False
    _settling: dict[str, _Settling] = field(default_factory=dict)
    _lock: int | None = None

    def due(self, now: datetime, elapsed: float) -> Firing | None:  # noqa: ARG002
        """Return the oldest file that is ready. Raises InvalidInput naming the path."""
        with _named(self.directory):
            found = _oldest(self._claimed) or self._ready(elapsed)
        return None if found is None else _firing(found)

    def take(self, firing: Firing, now: datetime) -> Firing | None:  # noqa: ARG002
        """Claim a file; None if another has it, or somebody took it away.

        Raises InvalidInput naming the path, before anything was begun.
        """
        assert firing.file is not None
        with _named(self.directory):
            for folder in (self._claimed, self.directory / "done", self.directory / "failed"):
                folder.mkdir(parents=True, exist_ok=True)
            if not self._locked():
                return None
            claimed = self._claim(Path(firing.file))
        if claimed is None:
            self._unlock()
            return None
        return Firing(name=firing.name, file=str(claimed))

    def done(self, firing: Firing, *, ok: bool | None) -> None:
        """Keep a file that was worked off where people find it. Raises InvalidInput."""
        assert firing.file is not None
        try:
            if ok is not None:
                with _named(self.directory):
                    _kept(Path(firing.file), self.directory / ("done" if ok else "failed"))
        finally:
            self._unlock()

    def _claim(self, source: Path) -> Path | None:
        """Return where a file is that is ours now, None if it is not there any more."""
        claimed = self._claimed / source.name
        if source != claimed:
            if os.path.lexists(claimed):  # one that was left here comes first, and is not replaced
                return None
            with suppress(FileNotFoundError):
                source.rename(claimed)
        return claimed if claimed.is_file() else None

    def _locked(self) -> bool:
        """Tell whether no other program of this mission works on what is claimed."""
        if self._lock is None:
            opened = os.open(self._claimed, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(opened)
                return False
            except OSError as error:
                if error.errno not in _NO_LOCKS:
                    os.close(opened)
                    raise
            self._lock = opened
        return True

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @property
    def _claimed(self) -> Path:
        return self.directory / "claimed" / self.mission

    def _ready(self, elapsed: float) -> Path | None:
        files = _files(self.directory)
        gone = self._settling.keys() - {one.name for one in files}
        for name in gone:
            del self._settling[name]
        for one in files:
            settling = self._settling.setdefault(one.name, _Settling())
            settling.settled(_stamp(one), elapsed)
        ready = (one for one in files if self._settling[one.name].settled(_stamp(one), elapsed))
        return next(ready, None)


def _firing(path: Path) -> Firing:
    return Firing(name=storable(f"file {path.name}"), file=str(path))


@contextmanager
def _named(folder: Path) -> Iterator[None]:
    """Say which path could not be used."""
    try:
        yield
    except OSError as error:
        path = storable(os.fsdecode(error.filename2 or error.filename or str(folder)))
        why = f"the queue cannot be used: {path}: {error.strerror}"
        raise InvalidInput(why) from error


def _kept(source: Path, folder: Path) -> None:
    """Move a file into a folder under a free name: a link fails where a move would replace."""
    if not os.path.lexists(source):  # the program itself moved it on
        return
    number = 1
    while True:
        name = source.name if number == 1 else f"{source.name}.{number}"
        try:
            os.link(source, folder / name)
        except FileExistsError:
            number += 1
        except OSError:  # a disk without links
            source.rename(folder / name)
            return
        else:
            source.unlink()
            return


def _oldest(folder: Path) -> Path | None:
    return next(iter(_files(folder)), None)


def _files(folder: Path) -> list[Path]:
    """Return the files of a folder that are to be worked off, the oldest first."""
    found = []
    with suppress(FileNotFoundError):
        for one in os.scandir(folder):
            if one.name.startswith(".") or one.name.endswith(_PARTS):
                continue
            with suppress(FileNotFoundError):
                if one.is_file(follow_symlinks=False):
                    found.append((one.stat().st_mtime_ns, one.name))
    return [folder / name for _, name in sorted(found)]


def _stamp(path: Path) -> Stamp | None:
    try:
        told = path.stat()
    except OSError:
        return None
    return told.st_mtime_ns, told.st_ctime_ns, told.st_size, told.st_ino


def _digest(path: Path) -> str | None:
    try:
        with path.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return None
