"""Wakes the workers with the transaction that wrote what is to be told (O24).

The row goes into procrastinate's own table, so that it is there if and only if the notice is. It is
inserted as its function `procrastinate_defer_jobs_v1` would, but one that waits already is enough:
`ON CONFLICT` says so without aborting the transaction. What goes wrong here must not fail
decisions, hence the savepoint: workers also look every two seconds.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

import psycopg

from sureline.adapters.storage.postgres_driver import Connection
from sureline.application.ports.jobs import DELIVER, queue_of

logger = logging.getLogger(__name__)

_DEFER = """
INSERT INTO procrastinate_jobs (queue_name, task_name, queueing_lock)
VALUES (%s, %s, %s)
ON CONFLICT (queueing_lock) WHERE status = 'todo' DO NOTHING
"""


def enqueue_delivery(connection: Connection, workspaces: Iterable[str]) -> None:
    """Put a `deliver` job for each workspace beside what the open transaction writes."""
    rows = [(queue, DELIVER, queue) for queue in sorted(queue_of(DELIVER, w) for w in workspaces)]
    try:
        with connection.transaction(), connection.cursor() as cursor:
            cursor.executemany(_DEFER, rows)
    except psycopg.Error as error:
        if connection.broken:
            raise
        logger.warning("workers were not woken (%s); they look by themselves", error.sqlstate)
