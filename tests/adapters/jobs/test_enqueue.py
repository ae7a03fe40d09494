"""A worker is woken by the transaction that wrote what is to be told, once for all of a batch."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator

import psycopg
import pytest

from sureline.application.ports.jobs import DELIVER, queue_of
from sureline.bootstrap import Services, open_services
from tests.outbox.told import policy, submit


@pytest.fixture
def services(shared: str) -> Iterator[Services]:
    """Open the store with an empty queue of the job server."""
    with psycopg.connect(shared, autocommit=True) as connection:
        connection.execute("DELETE FROM procrastinate_jobs")
    opened = open_services(shared)
    yield opened
    opened.close()


def waiting(shared: str) -> list[tuple[object, ...]]:
    with psycopg.connect(shared, autocommit=True) as connection:
        return connection.execute(
            "SELECT task_name, queue_name, status, args FROM procrastinate_jobs"
        ).fetchall()


async def test_many_decisions_put_one_job(services: Services, shared: str) -> None:
    """However many items were opened, one job waits; and one more where that has begun."""
    await services.policies.introduce(policy())
    await asyncio.gather(*(submit(services, number) for number in range(20)))
    one = (DELIVER, queue_of(DELIVER, "default"), "todo", {})
    assert waiting(shared) == [one]
    await submit(services, 20)
    assert waiting(shared) == [one]
    with psycopg.connect(shared, autocommit=True) as connection:
        connection.execute("UPDATE procrastinate_jobs SET status = 'doing'")
    await submit(services, 21)
    assert [status for _, _, status, _ in waiting(shared)] == ["doing", "todo"]


async def test_a_decision_with_nothing_to_tell_puts_none(services: Services, shared: str) -> None:
    """What is not reviewed costs no statement more than before."""
    await services.policies.introduce(policy())
    await submit(services, 30)
    with psycopg.connect(shared, autocommit=True) as connection:
        connection.execute("DELETE FROM procrastinate_jobs")
    await submit(services, 30)  # the same again: it is known
    assert waiting(shared) == []


async def test_a_job_server_that_is_broken_fails_no_decision(
    services: Services, shared: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The decision is stored with what is to be told; workers find it by themselves (O24)."""
    await services.policies.introduce(policy())
    with psycopg.connect(shared, autocommit=True) as connection:
        connection.execute("ALTER TABLE procrastinate_jobs RENAME TO gone")
        try:
            with caplog.at_level(logging.WARNING):
                assert await submit(services, 40) == "d040"
        finally:
            connection.execute("ALTER TABLE gone RENAME TO procrastinate_jobs")
        found = connection.execute(
            "SELECT count(*) FROM notices WHERE decision_id = 'd040' AND spread_at IS NULL"
        )
        assert found.fetchone() == (1,)
    assert "could not be woken" in caplog.text
