"""Runs due jobs beside a server, on a thread of their own, until told to stop."""

from __future__ import annotations

import asyncio
import logging

from sureline.adapters.repeating import RepeatingThread
from sureline.application.ports.jobs import Jobs
from sureline.errors import SurelineError

logger = logging.getLogger(__name__)


class JobThread(RepeatingThread):
    """Looks for due jobs at once, then every `tick` seconds; decisions go on meanwhile."""

    def __init__(self, jobs: Jobs, *, tick: float = 30.0) -> None:
        super().__init__(name="sureline-jobs", tick=tick)
        self._jobs = jobs

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
