"""Switches outside the store: an environment variable and a file, read at each decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sureline.core.values.switch import Switch


class HardSwitch(Protocol):
    """A kill switch that works without the store."""

    def read(self, workspace: str) -> Sequence[Switch]:
        """Return the switches that are on now; what cannot be read counts as on."""
