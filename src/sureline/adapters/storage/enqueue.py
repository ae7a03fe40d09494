"""Wakes the workers with the transaction that wrote what is to be told (O24).

The row goes into procrastinate's own table, so that it is there if and only if the notice is. It is
inserted as its function `procrastinate_defer_jobs_v1` would, but one that waits already is enough:
`ON CONFLICT` says so without aborting the transaction (migration 0006). Should it fail, workers
also look every two seconds.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from sureline.adapters.storage.postgres_driver import Connection
from sureline.application.ports.jobs import DELIVER, queue_of

logger = logging.getLogger(__name__)


def enqueue_delivery(connection: Connection, workspaces: Iterable[str]) -> None:
    """Put a `deliver` job for each workspace beside what the open transaction writes."""
    queues = [queue_of(DELIVER, workspace) for workspace in workspaces]
    row = connection.execute("SELECT sureline_wake(%s, %s)", (DELIVER, queues)).fetchone()
    if row != (True,):
        logger.warning("workers could not be woken; they look by themselves")
