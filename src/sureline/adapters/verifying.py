"""Verifies what is new in the ledger beside a server or a worker."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from sureline.adapters.repeating import RepeatingThread
from sureline.errors import SurelineError

logger = logging.getLogger(__name__)

TICK_SECONDS = 900.0
STOPPING_SECONDS = 0.2
"""How soon a verification under way notices that it is to stop."""


class VerifyThread(RepeatingThread):
    """Runs `verify` at once and then every `tick` seconds; leaving the block breaks it off."""

    def __init__(
        self, verify: Callable[[], Coroutine[Any, Any, object]], *, tick: float = TICK_SECONDS
    ) -> None:
        super().__init__(
            name="sureline-verify", tick=tick, what="verifying the ledger", logger=logger
        )
        self._verify = verify

    def look(self) -> None:
        """Verify once; a store that cannot be used now is tried again at the next."""
        try:
            asyncio.run(self._until_stopped())
        except SurelineError as error:
            self.complaints.tell(type(error).__name__, error.message)
        else:
            if not self._stopping.is_set():  # one that was broken off found nothing out
                self.complaints.over()

    async def _until_stopped(self) -> None:
        work = asyncio.create_task(self._verify())
        while not work.done() and not self._stopping.is_set():
            await asyncio.wait([work], timeout=STOPPING_SECONDS)
        if not work.done():
            work.cancel()
        await asyncio.gather(work, return_exceptions=work.cancelling() > 0)
