"""Runs due jobs beside a server, on a thread of their own, until told to stop."""

from __future__ import annotations

import asyncio
import logging
import threading
from types import TracebackType
from typing import Self

from sureline.application.ports.jobs import Jobs
from sureline.errors import SurelineError

logger = logging.getLogger(__name__)

STOP_SECONDS = 10.0
"""How long a job under way may take to end once the thread is told to stop."""


class JobThread:
    """Looks for due jobs at once, then every `tick` seconds; decisions go on meanwhile."""

    def __init__(self, jobs: Jobs, *, tick: float = 30.0) -> None:
        self._jobs = jobs
        self._tick = tick
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._serve, name="sureline-jobs", daemon=True)

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
        """Run what is due once; a store that cannot be used now is tried again at the next."""
        try:
            ended = asyncio.run(self._jobs.run_due())
        except SurelineError as error:
            logger.warning("jobs: %s", error.message)
            return
        for state in ended:
            if state.failures:
                logger.warning("the job %s failed: %s", state.name, state.message)
