"""Delivers the outbox beside a server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from sureline.adapters.repeating import STOP_SECONDS, RepeatingThread
from sureline.errors import SurelineError

logger = logging.getLogger(__name__)


class DeliveryThread(RepeatingThread):
    """Runs `serve`, which returns once it is told to stop.

    After an error of the store it begins anew `tick` seconds later. `ending` is how many seconds
    it takes at most to return.
    """

    def __init__(
        self,
        serve: Callable[[Callable[[], bool]], Coroutine[Any, Any, None]],
        *,
        ending: float = STOP_SECONDS,
        tick: float = 1.0,
    ) -> None:
        super().__init__(name="sureline-outbox", tick=tick, what="outbox", logger=logger)
        self.stop_seconds = ending + 2 * tick
        self._deliver = serve

    def look(self) -> None:
        """Deliver until told to stop."""
        try:
            asyncio.run(self._deliver(self._stopping.is_set))
        except SurelineError as error:
            self.complaints.tell(type(error).__name__, error.message)
