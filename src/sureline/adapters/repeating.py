"""Does something at once and then again and again, on a thread of its own."""

from __future__ import annotations

import logging
import threading
import time
from types import TracebackType
from typing import Self

from sureline.application.complaints import Complaints

logger = logging.getLogger(__name__)

STOP_SECONDS = 10.0
"""How long a look under way may take to end once the thread is told to stop."""


class RepeatingThread:
    """Looks at once, then every `tick` seconds, from entering to leaving a `with` block.

    What goes wrong again and again is told through `complaints`, as trouble of `what`.
    """

    stop_seconds = STOP_SECONDS

    def __init__(
        self, *, name: str, tick: float, what: str | None = None, logger: logging.Logger = logger
    ) -> None:
        self._tick = tick
        self.complaints = Complaints(logger, what or name, time.monotonic)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._serve, name=name, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self._thread.join(self.stop_seconds)

    def stop(self) -> None:
        """Tell it to end, without waiting: of several all are told before any is waited for."""
        self._stopping.set()

    def _serve(self) -> None:
        while True:
            self.look()
            if self._stopping.wait(self._tick):
                return

    def look(self) -> None:
        """Do once what is to be done; what it raises ends the thread."""
        raise NotImplementedError
