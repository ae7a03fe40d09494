"""Looks at the write-ahead log, which any program that keeps a reading open can keep growing (O03).

SQLite empties the log once nobody reads what is in it. A backup tool that hangs, or a shell with a
query that was never ended, keeps it from that, and the disk fills up without anything being wrong
here.
"""

from __future__ import annotations

import logging

from sureline.adapters.storage.database import Database

logger = logging.getLogger(__name__)

LARGE_BYTES = 256 * 1024 * 1024
"""Four times what the log is cut back to."""


class LogWatch:
    """Warns once when the log is large, and again each time it has doubled."""

    def __init__(self, database: Database, *, large: int = LARGE_BYTES) -> None:
        self._database, self._large = database, large
        self._next = large

    @property
    def is_large(self) -> bool:
        """Tell whether somebody should look."""
        return self._database.log_bytes() >= self._large

    def look(self) -> None:
        """Warn if it is due."""
        size = self._database.log_bytes()
        if size >= self._next:
            self._next = 2 * size
            logger.warning(
                "the write-ahead log of %s has %d MB: some program keeps a reading of it open",
                self._database.where,
                size // (1024 * 1024),
            )
        elif size < self._large:
            self._next = self._large
