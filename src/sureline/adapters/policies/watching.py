"""Looks after a policy's files beside a server, on a thread of its own.

By reading them instead of by notices of the file system: those miss network drives and folders
that are swapped as a whole, and a policy's files are few and small.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from pathlib import Path, PurePath

from sureline.adapters.repeating import RepeatingThread
from sureline.application.policy_watch import PolicyWatch

logger = logging.getLogger(__name__)

MAX_BYTES = 2 * 1024 * 1024
"""Of so many bytes the content is told apart; a longer file is no policy anyway."""


class PolicyThread(RepeatingThread):
    """Looks every `tick` seconds whether a policy's files have changed."""

    def __init__(self, watch: PolicyWatch, *, tick: float = 1.0) -> None:
        super().__init__(name="sureline-policy", tick=tick, what="policy files", logger=logger)
        self._watch = watch

    def look(self) -> None:
        """Look once; a fault of ours is logged and does not end the watching."""
        try:
            asyncio.run(self._watch.look())
        except Exception as error:  # noqa: BLE001 - the thread's boundary: nobody else would hear
            self.complaints.tell(type(error).__name__, f"not looked at ({type(error).__name__})")
        else:
            self.complaints.over()


def content_stamp(path: PurePath) -> str | None:
    """Return a digest of a file's content, None where it cannot be read.

    Whoever replaces a file, writes it anew or moves a link gets another digest only for another
    content.
    """
    try:
        with Path(path).open("rb") as file:
            return hashlib.sha256(file.read(MAX_BYTES)).hexdigest()
    except OSError:
        return None
