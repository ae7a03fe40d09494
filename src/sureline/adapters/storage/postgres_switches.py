"""Follows the switches beside the decisions, so that none waits for a round trip (G33).

The server tells of every change; twice a second all is read anyway, since a message can be lost.
What was read longer ago than a second is not believed: it is waited for, and if nothing comes,
everything goes to people. The same look tells of an upgrade of the tables under this process.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import psycopg
from sqlalchemy import column, select, table, true

from sureline.adapters.storage.postgres_driver import Connection
from sureline.adapters.storage.postgres_errors import store_error
from sureline.adapters.storage.postgres_schema import check_found
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


@dataclass(slots=True, eq=False)
class _Waiter:
    """Somebody who waits for a reading made after `since`."""

    since: float
    loop: asyncio.AbstractEventLoop
    told: asyncio.Future[None] = field(init=False)

    def __post_init__(self) -> None:
        self.told = self.loop.create_future()

    def tell(self) -> None:
        with suppress(RuntimeError):  # that loop is closed: nobody waits there any more
            self.loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        if not self.told.done():
            self.told.set_result(None)


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
        self._waiters: list[_Waiter] = []
        self._known: Known = {}
        self._as_of: float | None = None
        self._other_tables: StoreError | None = None
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
        waiter = _Waiter(self._monotonic(), asyncio.get_running_loop())
        with self._lock:
            self._waiters.append(waiter)
            if self._thread is None:
                self._stopping = threading.Event()
                self._thread = threading.Thread(
                    target=self._follow, name="sureline-switches", daemon=True
                )
                self._thread.start()
        with suppress(TimeoutError):
            await asyncio.wait_for(waiter.told, PATIENCE_SECONDS)

    def check_tables(self) -> None:
        """Raise a StoreError while the last look found tables of another version."""
        if (found := self._other_tables) is not None:
            raise type(found)(found.message)

    def after_fork(self) -> None:
        """Start anew in a child: the parent's threads may have held the lock."""
        self._lock, self._waiters, self._thread = threading.Lock(), [], None
        self._other_tables = None

    def stop(self) -> None:
        """End the thread; the next use starts another."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(PATIENCE_SECONDS)
        self._thread = None
        self._as_of = self._other_tables = None

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
            except (psycopg.Error, StoreError) as error:
                self._note(error)
                _close(connection)
                connection = None
                self._tell(float("inf"))
                stopping.wait(POLL_SECONDS)
        _close(connection)

    def _note(self, error: psycopg.Error | StoreError) -> None:
        """Keep what went wrong; nothing of other tables is believed, not even for a second."""
        if isinstance(error, StoreError):
            self._as_of, self._error, self._other_tables = None, error, error
        else:
            self._error = store_error(error, self._where)

    def _take(self, connection: Connection) -> None:
        asked_at = self._monotonic()
        rows = connection.execute(_ALL.postgres).fetchall()
        check_found(self._where, rows[0][0] if rows else None)
        self._other_tables = None
        found = [stored_switch(columns) for _, *columns in rows if columns[0] is not None]
        self._known = {(one.workspace, one.scope): one for one in found if one.on}
        self._as_of = asked_at
        self._tell(asked_at)

    def _tell(self, as_of: float) -> None:
        """Wake those who asked no later than `as_of`."""
        with self._lock:
            told = [one for one in self._waiters if one.since <= as_of]
            self._waiters = [one for one in self._waiters if one.since > as_of]
        for waiter in told:
            waiter.tell()


_newest = ALL_NEWEST.subquery()
_schema = table("alembic_version", column("version_num"))
_ALL = compiled(
    select(_schema.c.version_num, *_newest.c).select_from(_schema.outerjoin(_newest, true()))
)
"""The schema's revision, so that a process hears of an upgrade, beside each of the switches."""


def _close(connection: psycopg.Connection[Any] | None) -> None:
    if connection is not None:
        with suppress(psycopg.Error):
            connection.close()
