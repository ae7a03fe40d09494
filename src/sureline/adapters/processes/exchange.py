"""Files between the supervisor and what it starts, in a folder that only they can read."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

from sureline.application.ports.processes import Handed
from sureline.errors import InvalidInput

MOST_BYTES = 64 * 1024 * 1024
"""Evidence that is longer is not even read."""


class FileExchange:
    """Hands over a context and takes evidence in a temporary folder; close it when done."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="sureline-mission-")
        self._context = Path(self._folder.name) / "context.txt"
        self._evidence = Path(self._folder.name) / "evidence.json"

    def hand(self, context: str) -> Handed:
        """Write what an invocation is told, and make sure that there is no evidence yet."""
        self._context.write_text(context + "\n", encoding="utf-8")
        with suppress(FileNotFoundError):
            self._evidence.unlink()
        return Handed(context=str(self._context), evidence=str(self._evidence))

    def evidence(self) -> bytes | None:
        """Return what the invocation wrote, None for nothing. Raises InvalidInput for too much."""
        if self._evidence.is_symlink() or not self._evidence.is_file():
            return None
        if self._evidence.stat().st_size > MOST_BYTES:
            raise InvalidInput(f"the evidence has more than {MOST_BYTES // 1024**2} MiB")
        return self._evidence.read_bytes() or None

    def close(self) -> None:
        """Remove the folder."""
        self._folder.cleanup()
