"""Runs due jobs beside a server, on a thread of their own, until told to stop."""

from __future__ import annotations

import asyncio
import logging

from sureline.adapters.repeating import RepeatingThread
from sureline.application.ports.jobs import Jobs, JobState
from sureline.errors import SurelineError

logger = logging.getLogger(__name__)


class JobThread(RepeatingThread):
    """Looks for due jobs at once, then every `tick` seconds; decisions go on meanwhile."""

    stop_seconds = 30.0

    def __init__(self, jobs: Jobs, *, tick: float = 30.0) -> None:
        super().__init__(name="sureline-jobs", tick=tick, what="jobs", logger=logger)
        self._jobs = jobs

    def look(self) -> None:
        """Run what is due once; a store that cannot be used now is tried again at the next."""
        try:
            ended = asyncio.run(self._run_due())
        except SurelineError as error:
            self.complaints.tell(type(error).__name__, error.message)
            return
        self.complaints.over()
        for state in ended:
            if state.failures:
                logger.warning("the job %s failed: %s", state.name, state.message)

    async def _run_due(self) -> list[JobState]:
        """Run what is due, one after the other; once it is time to stop, none begins."""
        ended = []
        for job, _ in await self._jobs.states():
            state = None if self._stopping.is_set() else await self._jobs.run_if_due(job.name)
            ended += [] if state is None else [state]
        return ended
