"""Files between the supervisor and what it starts, in a folder that only they can read.

What is started may do anything to them: put a pipe, a link or a folder in their place, or take them
away. So each invocation has a folder of its own, in which nothing was before, and what stands
where the evidence should is looked at before it is read.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from sureline.application.ports.processes import Handed
from sureline.errors import InvalidInput

MOST_BYTES = 64 * 1024 * 1024
"""Evidence that is longer is not even read."""
_REMOVE_SECONDS = 1.0
_MAKE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_LOOK = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a pipe must not be waited for


class FileExchange:
    """Hands over a context and takes evidence, each time in a new folder; close it when done."""

    def __init__(self) -> None:
        self._folder: Path | None = None

    def hand(self, context: str) -> Handed:
        """Write what an invocation is told, where no evidence is yet. Raises InvalidInput."""
        self.close()
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="sureline-mission-"))
            path = self._folder / "context.txt"
            with os.fdopen(os.open(path, _MAKE, 0o600), "w", encoding="utf-8") as opened:
                opened.write(context + "\n")
        except OSError as error:
            where = error.filename or self._folder or tempfile.gettempdir()
            raise InvalidInput(
                f"the context cannot be written: {where}: {error.strerror}"
            ) from error
        return Handed(context=str(path), evidence=str(self._folder / "evidence.json"))

    def evidence(self) -> bytes | None:
        """Return what the invocation wrote, None for nothing.

        Raises InvalidInput for too much, and for what is no file that can be read.
        """
        assert self._folder is not None
        path = self._folder / "evidence.json"
        try:
            return _read(path) or None
        except FileNotFoundError:
            if self._folder.is_dir():
                return None
            raise InvalidInput(f"the folder of the evidence is gone: {self._folder}") from None
        except OSError as error:
            why = f"the evidence cannot be read: {path}: {error.strerror}"
            raise InvalidInput(why) from error

    def close(self) -> None:
        """Remove the last folder, as far as what was started lets it be removed."""
        if self._folder is None:
            return
        # In a thread that nobody has to wait for: a pipe in a folder's place is opened for ever.
        removing = threading.Thread(target=_remove, args=(self._folder,), daemon=True)
        removing.start()
        removing.join(_REMOVE_SECONDS)
        self._folder = None


def _remove(folder: Path) -> None:
    with suppress(OSError, RecursionError):  # folders in folders, deeper than anybody needs
        if stat.S_ISDIR(folder.lstat().st_mode):
            shutil.rmtree(folder, ignore_errors=True)


def _read(path: Path) -> bytes:
    opened = os.open(path, _LOOK)
    try:
        if not stat.S_ISREG(os.fstat(opened).st_mode):
            raise InvalidInput(f"the evidence is no regular file: {path}")
        with os.fdopen(opened, "rb", closefd=False) as file:
            data = file.read(MOST_BYTES + 1)
    finally:
        os.close(opened)
    if len(data) > MOST_BYTES:
        raise InvalidInput(f"the evidence has more than {MOST_BYTES // 1024**2} MiB")
    return data
