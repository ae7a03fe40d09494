"""Sweep the review queue beside a server."""

from __future__ import annotations

from sureline.adapters.sweeping import SweepThread
from sureline.bootstrap.services import Services


def sweep_thread(services: Services) -> SweepThread:
    """Return the thread that settles what time changed, plants and forgets; enter it to start."""

    async def sweep() -> None:
        await services.store.ledger.seal(services.clock.now())
        await services.desk.settle()
        await services.attention.sweep()
        await services.recaller.resume()
        await services.inbound.forget()

    return SweepThread(sweep)
