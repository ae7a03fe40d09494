"""Wakes the workers with the transaction that wrote what is to be told (O24).

The row goes into procrastinate's own table, so that it is there if and only if the notice is. It is
inserted as its function `procrastinate_defer_jobs_v1` would, but one that waits already is enough:
`ON CONFLICT` says so without aborting the transaction (migration 0006). Should it fail, or be gone,
workers also look every two seconds.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

import psycopg

from sureline.adapters.storage.postgres_driver import Connection
from sureline.application.ports.jobs import DELIVER, queue_of

logger = logging.getLogger(__name__)

_CANNOT = "workers could not be woken; they look by themselves"


class CannotWake(Exception):
    """The function that wakes workers cannot be called; the open transaction is lost with that."""


def can_wake(connection: Connection) -> bool:
    """Tell whether workers can be woken; asked once a connection, outside a transaction."""
    row = connection.execute("SELECT to_regprocedure('sureline_wake(text, text[])')").fetchone()
    if row is not None and row[0] is not None:
        return True
    logger.warning(_CANNOT)
    return False


def enqueue_delivery(connection: Connection, workspaces: Iterable[str]) -> None:
    """Put a `deliver` job for each workspace beside what the open transaction writes.

    Raises CannotWake where the function was dropped, or taken away, since it was looked for.
    """
    queues = [queue_of(DELIVER, workspace) for workspace in workspaces]
    try:
        row = connection.execute("SELECT sureline_wake(%s, %s)", (DELIVER, queues)).fetchone()
    except psycopg.ProgrammingError as error:
        logger.warning(_CANNOT)
        raise CannotWake from error
    if row != (True,):
        logger.warning(_CANNOT)
