"""What becomes of a row that cannot be read."""

from __future__ import annotations

from sureline.application.ports.tables import OnFault
from sureline.errors import InvalidInput


class Faults:
    """Tells a file's faults to whoever wants to know, and raises the first where nobody does."""

    def __init__(self, name: str, on_fault: OnFault | None) -> None:
        self._name = name
        self._on_fault = on_fault
        self.any = False

    def at(self, place: int, error: InvalidInput) -> None:
        """Tell, or raise with file and line, what is wrong with the row at `place`."""
        if self._on_fault is None:
            raise InvalidInput(f"{self._name}, line {place}: {error}") from error
        self.any = True
        self._on_fault(place, error)
