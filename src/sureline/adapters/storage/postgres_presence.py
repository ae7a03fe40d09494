"""Knows that the server is away, so that nobody waits to find it out again.

The first who cannot connect says so; until a thread has got through, everybody who needs a
connection is told at once. Connections that work are not asked about: they tell by themselves.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import suppress

import psycopg

from sureline.adapters.storage.postgres_driver import Connection
from sureline.errors import StoreError

logger = logging.getLogger(__name__)

PROBE_SECONDS = 0.5


class Presence:
    """Opens connections with `connect` while the server can be reached.

    After a failure a thread tries again every `every` seconds until it succeeds. Safe to use from
    several threads.
    """

    def __init__(
        self, connect: Callable[[], Connection], where: str, *, every: float = PROBE_SECONDS
    ) -> None:
        self._connect, self._where, self._every = connect, where, every
        self._lock = threading.Lock()
        self._said: psycopg.Error | None = None
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def check(self) -> None:
        """Raise what was said last, a psycopg.Error, while the server is away."""
        said = self._said
        if said is not None:
            raise type(said)(*said.args)

    def connect(self) -> Connection:
        """Open a connection. Raises psycopg.Error, at once where the server is away."""
        self.check()
        try:
            return self._connect()
        except psycopg.OperationalError as error:
            self.lost(error)
            raise

    def lost(self, error: psycopg.Error) -> None:
        """Take note that the server cannot be reached, or does not answer."""
        with self._lock:
            if self._said is None:
                logger.warning("%s cannot be reached; it is tried again until it can", self._where)
            self._said = error
            if self._thread is None and not self._stopping.is_set():
                self._thread = threading.Thread(
                    target=self._probe, args=(self._stopping,), name="sureline-probe", daemon=True
                )
                self._thread.start()

    def stop(self) -> None:
        """End the thread; the next failure starts another."""
        with self._lock:
            self._stopping.set()
            self._stopping, self._thread, self._said = threading.Event(), None, None

    def _probe(self, stopping: threading.Event) -> None:
        while not stopping.wait(self._every):
            try:
                connection = self._connect()
            except psycopg.Error as error:
                with self._lock:
                    if not stopping.is_set():
                        self._said = error
                continue
            except StoreError as error:  # it answers, and its tables are another version's
                logger.warning("%s", error.message)
            else:
                with suppress(psycopg.Error):
                    connection.close()
            with self._lock:
                if not stopping.is_set():
                    self._said, self._thread = None, None
                    logger.warning("%s is back", self._where)
            return
