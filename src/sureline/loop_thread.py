"""An event loop on a thread of its own, so that code without one can drive the async API."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")

_PATIENCE = 5.0
"""Seconds that cancelled work may take to end."""


class LoopThread:
    """Runs coroutines to their end for callers on other threads; starts at first use."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def run(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Return the coroutine's result, or raise what it raised.

        Interrupted while waiting (Ctrl-C), it cancels the work.
        """
        future = asyncio.run_coroutine_threadsafe(work, self._started())
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(
                    target=self._loop.run_forever, name="sureline-loop", daemon=True
                )
                self._thread.start()
            return self._loop

    def close(self) -> None:
        """Cancel what is still running and stop the loop; harmless when it never ran."""
        with self._lock:
            if self._loop is None or self._thread is None:
                return
            asyncio.run_coroutine_threadsafe(_end_others(), self._loop).result()
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._loop = self._thread = None


async def _end_others() -> None:
    """Cancel all other tasks of this loop: one that is left pending complains when it goes.

    Then close the generators that are open, as asyncio does when a loop ends.
    """
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    if others:
        await asyncio.wait(others, timeout=_PATIENCE)
    await asyncio.get_running_loop().shutdown_asyncgens()
