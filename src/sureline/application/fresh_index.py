"""An index of past cases that takes in new verdicts, and vectors that were made anew."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from sureline.application.ports.cases import CaseIndex
from sureline.application.ports.registry import Activation

REEMBEDDED = "reembedded"
"""The kind of an activation that tells of vectors that were made anew; see reembed.py."""

Remade = Callable[[], Awaitable[Activation | None]]
"""Tells when vectors were last made anew; None for never."""


class FreshIndex:
    """Keeps one embedding model's index up to date.

    Vectors that were made anew belong to verdicts that the index has passed already, so it is
    then read again from the start. `on_erasure` is called when cases were deleted.
    """

    def __init__(
        self, open_index: Callable[[], CaseIndex], remade: Remade, on_erasure: Callable[[], None]
    ) -> None:
        self.index = open_index()
        self._open_index = open_index
        self._remade = remade
        self._on_erasure = on_erasure
        self._mark = -1
        self._at: Activation | None = None
        self._is_begun = False
        self._refreshing: tuple[int, asyncio.Task[None]] | None = None

    async def take_in(self, mark: int) -> None:
        """Refresh if there are new verdicts; callers of the same loop share one run."""
        if mark <= self._mark:
            return
        loop = asyncio.get_running_loop()
        running = self._refreshing
        if running is None or running[0] < mark or running[1].get_loop() is not loop:
            running = self._refreshing = (mark, loop.create_task(self._refresh()))
        try:
            # Shielded: a caller that gives up must not take the others' refresh with it.
            await asyncio.shield(running[1])
        finally:
            if self._refreshing is running and running[1].done():
                self._refreshing = None
        self._mark = max(self._mark, mark)

    async def _refresh(self) -> None:
        # Asked before reading: what is made anew meanwhile is seen by the next refresh.
        at = await self._remade()
        if not self._is_begun:
            self._is_begun, self._at = True, at
        if at == self._at:
            deleted = await self.index.refresh()
        else:
            index = self._open_index()
            deleted = await index.refresh()
            # The old one is not closed: searches in it may be under way.
            self.index, self._at = index, at
        if deleted:
            self._on_erasure()
