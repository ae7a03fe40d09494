"""How many are served at once; who comes too many is told so at once."""

from __future__ import annotations

from types import TracebackType

from sureline.web.faults import Overloaded


class Seats:
    """A number of seats; taking one when none is left raises Overloaded."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.taken = 0

    def __enter__(self) -> None:
        if self.taken >= self._most:
            raise Overloaded
        self.taken += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.taken -= 1
