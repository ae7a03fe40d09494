"""Leave a model that is out alone for a while, then try it with one call."""

from __future__ import annotations

import threading
from collections.abc import Callable

from sureline.errors import ModelFailed


class Breaker:
    """Counts the faults of one model in a row; may be used from several threads.

    After `failures` of them every call is refused at once for `rest_seconds`. Then one call goes
    through: if it succeeds all do, if it fails the rest begins anew.
    """

    def __init__(
        self, *, failures: int, rest_seconds: float, monotonic: Callable[[], float]
    ) -> None:
        self._limit = failures
        self._rest = rest_seconds
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._faults = 0
        self._until = 0.0
        self._probing = False

    @property
    def rests(self) -> bool:
        """Tell whether the model is out, and left alone or tried with one call."""
        return self._faults >= self._limit

    def check(self) -> None:
        """Raise ModelFailed (`resting`) if the model is left alone now."""
        with self._lock:
            self._refuse_at_rest()

    def enter(self) -> None:
        """Let a call through, which must be ended by `succeeded`, `failed` or `abandoned`.

        Raises ModelFailed (`resting`) if the model is left alone now.
        """
        with self._lock:
            self._refuse_at_rest()
            self._probing = self._faults >= self._limit

    def _refuse_at_rest(self) -> None:
        if self._faults < self._limit:
            return
        left = self._until - self._monotonic()
        if left > 0 or self._probing:
            detail = {"faults": self._faults, "seconds_left": round(max(left, 0.0), 3)}
            raise ModelFailed("resting", detail=detail)

    def succeeded(self) -> None:
        """Note that the model was reached."""
        with self._lock:
            self._faults, self._probing = 0, False

    def failed(self) -> None:
        """Note a fault of the transport."""
        with self._lock:
            self._faults += 1
            self._probing = False
            self._until = self._monotonic() + self._rest

    def abandoned(self) -> None:
        """Note that a call ended without an answer through no fault of the model."""
        with self._lock:
            self._probing = False
