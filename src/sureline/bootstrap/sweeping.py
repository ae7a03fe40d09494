"""Sweep the review queue beside a server."""

from __future__ import annotations

from sureline.adapters.sweeping import SweepThread
from sureline.bootstrap.services import Services


def sweep_thread(services: Services) -> SweepThread:
    """Return the thread that settles what time has changed, and plants; enter it to start."""

    async def sweep() -> None:
        await services.desk.settle()
        await services.attention.sweep()
        await services.recaller.resume()

    return SweepThread(sweep)
