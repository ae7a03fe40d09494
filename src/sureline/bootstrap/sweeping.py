"""Sweep the review queue beside a server."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from sureline.adapters.storage.log_watch import LogWatch
from sureline.adapters.sweeping import SweepThread
from sureline.bootstrap.services import Services


def sweep_of(services: Services) -> Callable[[], Coroutine[Any, Any, None]]:
    """Return what seals, settles what time has changed, plants, recalls and forgets, once."""

    log = LogWatch(services.store.database)

    async def sweep() -> None:
        log.look()
        await services.store.ledger.seal(services.clock.now())
        await services.desk.settle()
        await services.attention.sweep()
        await services.recaller.resume()
        await services.inbound.forget()
        await services.missions.tick()

    return sweep


def sweep_thread(services: Services) -> SweepThread:
    """Return the thread that does it every second; enter it to start."""
    return SweepThread(sweep_of(services))
