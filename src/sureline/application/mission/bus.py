"""Tell listeners in this process what happens to missions (M8)."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence

from sureline.core.values.mission import MissionEvent

Listener = Callable[[MissionEvent], None]


class MissionBus:
    """Hands events to whoever listens, after they are on disk; a listener stops no mission."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: dict[int, Listener] = {}
        self._warned: set[int] = set()
        self._next = 0

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call `listener` with every event from now on; return what ends that."""
        with self._lock:
            number, self._next = self._next, self._next + 1
            self._listeners[number] = listener

        def unsubscribe() -> None:
            with self._lock:
                self._listeners.pop(number, None)

        return unsubscribe

    def tell(self, events: Sequence[MissionEvent]) -> None:
        """Hand on what happened. What a listener raises is warned of once and goes no further."""
        with self._lock:
            listeners = list(self._listeners.items())
        for event in events:
            for number, listener in listeners:
                try:
                    listener(event)
                except Exception as error:  # noqa: BLE001 - a listener must not stop a mission
                    self._complain(number, error)

    def _complain(self, number: int, error: Exception) -> None:
        if number not in self._warned:
            self._warned.add(number)
            warnings.warn(
                f"a listener of missions raised {type(error).__name__}; the mission goes on",
                stacklevel=3,
            )
