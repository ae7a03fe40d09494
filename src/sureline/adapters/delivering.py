"""Delivers the outbox beside a server."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from sureline.adapters.repeating import RepeatingThread
from sureline.errors import SurelineError

logger = logging.getLogger(__name__)


class DeliveryThread(RepeatingThread):
    """Runs `serve`, which returns once it is told to stop.

    After an error of the store it begins anew `tick` seconds later.
    """

    def __init__(
        self, serve: Callable[[Callable[[], bool]], Coroutine[Any, Any, None]], *, tick: float = 1.0
    ) -> None:
        super().__init__(name="sureline-outbox", tick=tick)
        self._deliver = serve

    def look(self) -> None:
        """Deliver until told to stop."""
        try:
            asyncio.run(self._deliver(self._stopping.is_set))
        except SurelineError as error:
            logger.warning("outbox: %s", error.message)
