"""Follows the switches beside the decisions, so that none waits for a round trip (G33).

The server tells of every change; twice a second all is read anyway, since a message can be lost.
What was read longer ago than a second is not believed: it is waited for, and if nothing comes,
everything goes to people.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import psycopg

from sureline.adapters.storage.postgres_driver import Connection
from sureline.adapters.storage.postgres_errors import store_error
from sureline.adapters.storage.statement import compiled
from sureline.adapters.storage.stored_switches import (
    ALL_NEWEST,
    scopes,
    stored_switch,
    unreadable_switch,
)
from sureline.core.values.switch import Switch
from sureline.errors import StoreError, StoreUnavailable

CHANNEL = "sureline_switches"
"""What the trigger on the table notifies."""
POLL_SECONDS = 0.5
BELIEVED_SECONDS = 1.0
PATIENCE_SECONDS = 2.0
"""How long a decision waits for a reading where there is none that is believed."""

Known = Mapping[tuple[str, str], Switch]


class FollowedSwitches:
    """Keeps what the store said last, and when; a thread of its own reads, from the first use on.

    `monotonic` tells seconds.
    """

    def __init__(
        self,
        connect: Callable[[], Connection],
        where: str,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._connect, self._where, self._monotonic = connect, where, monotonic
        self._lock = threading.Lock()
        self._read = threading.Condition()
        self._known: Known = {}
        self._as_of: float | None = None
        self._error: StoreError = StoreUnavailable(f"{where} was not asked yet")
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    async def on(self, workspace: str, slice_key: str, batch_id: str | None) -> Sequence[Switch]:
        """Return the switches that are on for this scope; what is not known is on."""
        if not self._is_believed():
            # Perhaps only this process was held up: it is asked for before it counts as lost.
            await self.changed()
            if not self._is_believed():
                return [unreadable_switch(workspace, self._error)]
        known = self._known
        found = (known.get((workspace, scope)) for scope in {*scopes(slice_key, batch_id)})
        return [switch for switch in found if switch is not None]

    def _is_believed(self) -> bool:
        as_of = self._as_of
        return as_of is not None and self._monotonic() - as_of <= BELIEVED_SECONDS

    async def changed(self) -> None:
        """Return once the store was read after this call, or could not be for a while."""
        await asyncio.to_thread(self._wait)

    def stop(self) -> None:
        """End the thread; the next use starts another."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(PATIENCE_SECONDS)
        self._thread = None
        self._as_of = None

    def _wait(self) -> None:
        since = self._monotonic()
        with self._lock:
            if self._thread is None:
                self._stopping = threading.Event()
                self._thread = threading.Thread(
                    target=self._follow, name="sureline-switches", daemon=True
                )
                self._thread.start()
        with self._read:
            self._read.wait_for(lambda: self._knows(since), timeout=PATIENCE_SECONDS)

    def _knows(self, since: float) -> bool:
        return self._as_of is not None and self._as_of >= since

    def _follow(self) -> None:
        stopping, connection = self._stopping, None
        while not stopping.is_set():
            try:
                if connection is None:
                    connection = self._connect()
                    connection.execute(f"LISTEN {CHANNEL}")
                self._take(connection)
                for _ in connection.notifies(timeout=POLL_SECONDS, stop_after=1):
                    pass
            except psycopg.Error as error:
                self._error = store_error(error, self._where)
                _close(connection)
                connection = None
                stopping.wait(POLL_SECONDS)
        _close(connection)

    def _take(self, connection: Connection) -> None:
        asked_at = self._monotonic()
        rows = connection.execute(_ALL.postgres).fetchall()
        found = [stored_switch(row) for row in rows]
        self._known = {(one.workspace, one.scope): one for one in found if one.on}
        with self._read:
            self._as_of = asked_at
            self._read.notify_all()


_ALL = compiled(ALL_NEWEST)


def _close(connection: psycopg.Connection[Any] | None) -> None:
    if connection is not None:
        with suppress(psycopg.Error):
            connection.close()
