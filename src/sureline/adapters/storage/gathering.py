"""Gathers what many callers ask for, and has one thread do it together.

A commit costs a disk flush and a query a round trip, whatever their size, so callers share one. The
event loop gathers all that its tasks hand in during one pass, gives it to the thread as one batch,
and gathers on while the batch is being done: one batch is in flight at a time. A caller is answered
only after its batch is done.

What waits is bounded, in number and in time. Who gave up before the batch began is left out of it:
what nobody waits for any more is not done.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Final, Protocol
from weakref import WeakSet

Result = Any

MOST_WAITING = 20_000
"""So many jobs wait at most, whatever they are."""
LONGEST_WAIT = 10.0
"""Seconds for which a job waits for its batch to begin."""
AT_ONCE = 2_000
"""A batch has no more jobs, so that it takes seconds at the very most."""
LATER: Final = object()
"""The result of a job that a batch did not come to: it goes first in the next one."""


class Stopped(Exception):
    """Nothing more is taken."""


class Crowded(Exception):
    """Too many wait, or one waited too long; the job was not begun."""


class Batch(Protocol):
    """Does many jobs together."""

    def __call__(self, jobs: Sequence[Any], /) -> Sequence[Result | BaseException]:
        """Return a result, an exception or LATER per job; what has a result is done for good."""


@dataclass(slots=True, eq=False)
class _Entry:
    job: Any
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    since: float
    result: Any = field(default=None)


class Gathering:
    """Hands jobs from any number of event loops to one thread, a batch at a time.

    `most` jobs wait at once, each for `longest` seconds.
    """

    def __init__(
        self,
        together: Batch,
        *,
        name: str,
        most: int = MOST_WAITING,
        longest: float = LONGEST_WAIT,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._together = together
        self._most, self._longest, self._monotonic = most, longest, monotonic
        self._lock = threading.Lock()
        self._pending: list[_Entry] = []
        self._scheduled: asyncio.AbstractEventLoop | None = None
        self._watched: WeakSet[asyncio.AbstractEventLoop] = WeakSet()
        self._busy = False
        self._closed = False
        self._batches: SimpleQueue[list[_Entry] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Return how many jobs wait for the batch that is being done."""
        return len(self._pending)

    async def submit(self, job: Any) -> Any:
        """Do `job` with the next batch; return its result.

        Raises Stopped after `close`, Crowded if it was not begun, and what the job raised.
        """
        loop = asyncio.get_running_loop()
        entry = _Entry(job, loop, loop.create_future(), self._monotonic())
        with self._lock:
            if self._closed:
                raise Stopped
            if len(self._pending) >= self._most:
                raise Crowded
            self._pending.append(entry)
            watch = self._busy and loop not in self._watched
            if watch:
                self._watched.add(loop)
            schedule = not self._busy and self._scheduled is not loop
            if schedule:
                self._scheduled = loop
        if schedule:
            loop.call_soon(self._flush)
        if watch:
            loop.call_later(self._longest / 4, self._send_away, loop)
        return await entry.future

    def close(self) -> None:
        """Do what was handed in, then stop the thread; later jobs are refused."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            left, self._pending = self._pending, []
            if left:
                self._batches.put(left)
            self._batches.put(None)
        self._thread.join()

    def _flush(self) -> None:
        with self._lock:
            self._scheduled = None
            if self._busy:
                return
            wanted = [one for one in self._pending if not one.future.done()]
            batch, self._pending = wanted[:AT_ONCE], wanted[AT_ONCE:]
            if not batch:
                return
            self._busy = True
        self._batches.put(batch)

    def _send_away(self, loop: asyncio.AbstractEventLoop) -> None:
        """Tell those of a loop that waited too long; look again while others of it wait."""
        latest = self._monotonic() - self._longest
        with self._lock:
            late = [one for one in self._pending if one.loop is loop and one.since <= latest]
            if late:
                self._pending = [one for one in self._pending if one not in late]
            again = any(one.loop is loop for one in self._pending)
            if not again:
                self._watched.discard(loop)
        for entry in late:
            if not entry.future.done():
                entry.future.set_exception(Crowded())
        if again:
            loop.call_later(self._longest / 4, self._send_away, loop)

    def _serve(self) -> None:
        while (batch := self._batches.get()) is not None:
            while batch:
                for entry, result in zip(batch, self._done(batch), strict=True):
                    entry.result = result
                batch = self._answer(batch)

    def _done(self, batch: list[_Entry]) -> Sequence[Any]:
        """Do a batch; whatever goes wrong, its callers hear of it and the thread goes on."""
        try:
            return self._together([entry.job for entry in batch])
        except Exception as error:  # noqa: BLE001 - the boundary: each caller gets its error
            return [error] * len(batch)

    def _answer(self, batch: list[_Entry]) -> list[_Entry]:
        """Wake every loop that has an answer coming or something pending.

        Returns what is left to be done at once, because nothing can be handed in any more.
        """
        left = [one for one in batch if one.result is LATER and not one.future.done()]
        by_loop: dict[asyncio.AbstractEventLoop, list[_Entry]] = {}
        for entry in batch:
            if entry.result is not LATER:
                by_loop.setdefault(entry.loop, []).append(entry)
        with self._lock:
            closed = self._closed
            if not closed:
                self._busy = False
                self._pending[:0] = left
            for entry in self._pending:
                by_loop.setdefault(entry.loop, [])
        for loop, entries in by_loop.items():
            try:
                loop.call_soon_threadsafe(self._deliver, entries)
            except RuntimeError:  # that loop is closed: nobody waits there any more
                continue
        return left if closed else []

    def _deliver(self, entries: list[_Entry]) -> None:
        for entry in entries:
            if entry.future.done():  # the caller was cancelled; what was done stays done
                continue
            if isinstance(entry.result, BaseException):
                entry.future.set_exception(entry.result)
            else:
                entry.future.set_result(entry.result)
        self._flush()
