"""The calibration report for pages: drawn up beside the server's work, and kept for a while."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from sureline.application.calibration_report import CalibrationReport
from sureline.application.ports.clock import Clock
from sureline.web.faults import Overloaded

KEPT_SECONDS = 60.0
REST = 20.0
"""A report is kept at least this many times as long as it took, so that it costs 5 % of a core."""
PATIENCE_SECONDS = 2.0


class KeptReport:
    """Draws a report up at most once a minute, and lets no page wait for more than a moment.

    A report reads every labelled decision, so a page gets the last one until the next is there.
    """

    def __init__(self, clock: Clock, *, patience: float = PATIENCE_SECONDS) -> None:
        self._clock = clock
        self._patience = patience
        self._kept: CalibrationReport | None = None
        self._mark: int | None = None
        self._until = 0.0
        self._begun = 0.0
        self._drawing: asyncio.Task[None] | None = None

    async def latest(
        self, draw: Callable[[], Awaitable[CalibrationReport]], mark: int
    ) -> CalibrationReport | None:
        """Return a report of the activations up to `mark`; None while the first is drawn up.

        Raises what drawing it up raises, except that a server that is busy with such work says
        None.
        """
        if mark != self._mark:
            self._kept, self._mark = None, mark
        is_old = self._kept is None or self._clock.monotonic() >= self._until
        if is_old and self._drawing is None:
            self._drawing = asyncio.create_task(self._draw(draw, mark))
            self._begun = self._clock.monotonic()
        drawing = self._drawing
        if drawing is not None:
            # Whoever comes while a long one is drawn up does not wait for it again.
            left = self._begun + self._patience - self._clock.monotonic()
            await asyncio.wait({drawing}, timeout=max(0.0, left))
            if drawing.done():
                self._drawing = None if self._drawing is drawing else self._drawing
                drawing.result()
        return self._kept

    async def fresh(
        self, draw: Callable[[], Awaitable[CalibrationReport]], mark: int
    ) -> CalibrationReport:
        """Return a report of now, for what somebody decides on it; pages get it from then on."""
        drawing = self._drawing
        if drawing is not None:
            await asyncio.wait({drawing})  # one at a time
        begun = self._clock.monotonic()
        found = await draw()
        self._keep(found, mark, begun)
        return found

    async def _draw(self, draw: Callable[[], Awaitable[CalibrationReport]], mark: int) -> None:
        try:
            found = await draw()
        except Overloaded:
            return  # other such work runs; the next visit tries again
        if mark == self._mark:
            self._keep(found, mark, self._begun)

    def _keep(self, found: CalibrationReport, mark: int, begun: float) -> None:
        done = self._clock.monotonic()
        self._kept, self._mark = found, mark
        self._until = done + max(KEPT_SECONDS, REST * (done - begun))
