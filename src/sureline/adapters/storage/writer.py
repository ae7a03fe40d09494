"""The one writer: gathers what many callers write and commits it together.

A commit costs a disk flush whatever its size, so callers share one. The event loop gathers all
that its tasks hand in during one pass, gives it to the writer's thread as one batch, and gathers
on while the batch is being written: one batch is in flight at a time. A caller is answered only
after the commit.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Protocol, TypeVar, cast

from sureline.adapters.storage.transaction import Transaction

T = TypeVar("T")

Result = Any


class WriterStopped(Exception):
    """This writer takes no more jobs."""


class Batch(Protocol):
    """Writes many jobs in one transaction; the database behind the writer."""

    def __call__(self, jobs: Sequence[Any], /) -> Sequence[Result | BaseException]:
        """Return one result or exception per job; what has a result is on disk."""


@dataclass(slots=True, eq=False)
class _Entry:
    job: Any
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    result: Any = field(default=None)


class Writer:
    """Hands jobs from any number of event loops to one thread, a batch at a time."""

    def __init__(self, write: Batch) -> None:
        self._write = write
        self._lock = threading.Lock()
        self._pending: list[_Entry] = []
        self._scheduled: asyncio.AbstractEventLoop | None = None
        self._busy = False
        self._closed = False
        self._batches: SimpleQueue[list[_Entry] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._serve, name="sureline-writer", daemon=True)
        self._thread.start()

    async def submit(self, job: Callable[[Transaction], T]) -> T:
        """Write `job` with the next batch; return its result once that is committed.

        Raises WriterStopped after `close`, and what the job raised.
        """
        loop = asyncio.get_running_loop()
        entry = _Entry(job, loop, loop.create_future())
        with self._lock:
            if self._closed:
                raise WriterStopped
            self._pending.append(entry)
            schedule = not self._busy and self._scheduled is not loop
            if schedule:
                self._scheduled = loop
        if schedule:
            loop.call_soon(self._flush)
        return cast("T", await entry.future)

    def close(self) -> None:
        """Write what was handed in, then stop the thread; later jobs are refused."""
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
            results = self._write([entry.job for entry in batch])
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
            if entry.future.done():  # the caller was cancelled; what it wrote stays written
                continue
            if isinstance(entry.result, BaseException):
                entry.future.set_exception(entry.result)
            else:
                entry.future.set_result(entry.result)
        self._flush()
