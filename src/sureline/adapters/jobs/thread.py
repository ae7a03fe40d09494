"""Does things periodically beside a server, on threads of their own, until told to stop."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import Any, Self

from sureline.application.ports.jobs import Jobs
from sureline.errors import SurelineError

logger = logging.getLogger(__name__)

STOP_SECONDS = 10.0
"""How long what is under way may take to end once the thread is told to stop."""


class Ticking:
    """Does something at once, then every `tick` seconds, on a thread of its own.

    A store that cannot be used now is tried again at the next tick.
    """

    def __init__(
        self, work: Callable[[], Coroutine[Any, Any, object]], *, name: str, tick: float
    ) -> None:
        self._work = work
        self._name = name
        self._tick = tick
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._serve, name=f"sureline-{name}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopping.set()
        self._thread.join(STOP_SECONDS)

    def _serve(self) -> None:
        while True:
            self.look()
            if self._stopping.wait(self._tick):
                return

    def look(self) -> None:
        """Do it once."""
        try:
            asyncio.run(self._work())
        except SurelineError as error:
            logger.warning("%s: %s", self._name, error.message)


class JobThread(Ticking):
    """Looks for due jobs; decisions go on meanwhile."""

    def __init__(self, jobs: Jobs, *, tick: float = 30.0) -> None:
        super().__init__(self._run_due, name="jobs", tick=tick)
        self._jobs = jobs

    async def _run_due(self) -> None:
        for state in await self._jobs.run_due():
            if state.failures:
                logger.warning("the job %s failed: %s", state.name, state.message)
