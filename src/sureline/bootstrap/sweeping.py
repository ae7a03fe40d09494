"""Sweep the review queue beside a server."""

from __future__ import annotations

from sureline.adapters.sweeping import SweepThread
from sureline.bootstrap.services import Services


def sweep_thread(services: Services) -> SweepThread:
    """Return the thread that settles what time has changed; enter it to start."""
    return SweepThread(services.desk.settle)
