"""Which switches are on for a decision: read in the store, or followed beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from sureline.adapters.storage.database import Database
from sureline.adapters.storage.stored_switches import (
    NEWEST_IN,
    scopes,
    stored_switch,
    unreadable_switch,
)
from sureline.core.values.switch import Switch
from sureline.errors import StoreError


class SwitchSource(Protocol):
    """Knows the switches; what cannot be known is on."""

    async def on(self, workspace: str, slice_key: str, batch_id: str | None) -> Sequence[Switch]:
        """Return the switches that are on for this scope."""

    async def changed(self) -> None:
        """Return once a switch that this process has just written is known here."""


class StoredSwitches:
    """Reads the rows at every decision, which takes microseconds on SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def on(self, workspace: str, slice_key: str, batch_id: str | None) -> Sequence[Switch]:
        """Return the switches that are on for this scope; what cannot be read is on."""
        try:
            rows = self._database.fetch(NEWEST_IN, (workspace, *scopes(slice_key, batch_id)))
        except StoreError as error:
            return [unreadable_switch(workspace, error)]
        return [switch for switch in map(stored_switch, rows) if switch.on]

    async def changed(self) -> None:
        """Return at once: the next decision reads the row."""
