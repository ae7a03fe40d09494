"""Gathers what many callers ask for, and has one thread do it together.

A commit costs a disk flush and a query a round trip, whatever their size, so callers share one. The
event loop gathers all that its tasks hand in during one pass, gives it to the thread as one batch,
and gathers on while the batch is being done: one batch is in flight at a time. A caller is answered
only after its batch is done.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Protocol

Result = Any


class Stopped(Exception):
    """Nothing more is taken."""


class Batch(Protocol):
    """Does many jobs together."""

    def __call__(self, jobs: Sequence[Any], /) -> Sequence[Result | BaseException]:
        """Return one result or exception per job; what has a result is done for good."""


@dataclass(slots=True, eq=False)
class _Entry:
    job: Any
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    result: Any = field(default=None)


class Gathering:
    """Hands jobs from any number of event loops to one thread, a batch at a time."""

    def __init__(self, together: Batch, *, name: str) -> None:
        self._together = together
        self._lock = threading.Lock()
        self._pending: list[_Entry] = []
        self._scheduled: asyncio.AbstractEventLoop | None = None
        self._busy = False
        self._closed = False
        self._batches: SimpleQueue[list[_Entry] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)
        self._thread.start()

    async def submit(self, job: Any) -> Any:
        """Do `job` with the next batch; return its result.

        Raises Stopped after `close`, and what the job raised.
        """
        loop = asyncio.get_running_loop()
        entry = _Entry(job, loop, loop.create_future())
        with self._lock:
            if self._closed:
                raise Stopped
            self._pending.append(entry)
            schedule = not self._busy and self._scheduled is not loop
            if schedule:
                self._scheduled = loop
        if schedule:
            loop.call_soon(self._flush)
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
            if self._busy or not self._pending:
                return
            batch, self._pending = self._pending, []
            self._busy = True
        self._batches.put(batch)

    def _serve(self) -> None:
        while (batch := self._batches.get()) is not None:
            results = self._together([entry.job for entry in batch])
            for entry, result in zip(batch, results, strict=True):
                entry.result = result
            self._answer(batch)

    def _answer(self, batch: list[_Entry]) -> None:
        """Wake every loop that has an answer coming or something pending."""
        by_loop: dict[asyncio.AbstractEventLoop, list[_Entry]] = {}
        for entry in batch:
            by_loop.setdefault(entry.loop, []).append(entry)
        with self._lock:
            self._busy = False
            for entry in self._pending:
                by_loop.setdefault(entry.loop, [])
        for loop, entries in by_loop.items():
            try:
                loop.call_soon_threadsafe(self._deliver, entries)
            except RuntimeError:  # that loop is closed: nobody waits there any more
                continue

    def _deliver(self, entries: list[_Entry]) -> None:
        for entry in entries:
            if entry.future.done():  # the caller was cancelled; what was done stays done
                continue
            if isinstance(entry.result, BaseException):
                entry.future.set_exception(entry.result)
            else:
                entry.future.set_result(entry.result)
        self._flush()
