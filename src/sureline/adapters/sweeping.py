"""Sweeps the review queue beside a server: leases, deadlines and verdicts that are due."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from sureline.adapters.repeating import RepeatingThread
from sureline.errors import SurelineError

logger = logging.getLogger(__name__)


class SweepThread(RepeatingThread):
    """Settles what time has changed, at once and then every `tick` seconds."""

    def __init__(
        self, settle: Callable[[], Coroutine[Any, Any, object]], *, tick: float = 1.0
    ) -> None:
        super().__init__(name="sureline-queue", tick=tick, what="queue", logger=logger)
        self._settle = settle

    def look(self) -> None:
        """Settle once; a store that cannot be used now is tried again at the next."""
        try:
            asyncio.run(self._settle())
        except SurelineError as error:
            self.complaints.tell(type(error).__name__, error.message)
        else:
            self.complaints.over()
