"""Machines that share a store agree on the time, however wrong their own clocks are (O22)."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from sureline.adapters.storage.postgres_clock import ASK_SECONDS, DatabaseClock
from sureline.adapters.storage.postgres_driver import connect
from sureline.bootstrap import Plugins, open_services
from sureline.testing import FixedClock
from tests.postgres import Postgres

_SKEWED = """
import sys, time
real = time.time
time.time = lambda: real() + {skew}
from sureline.bootstrap import open_services
services = open_services({url!r})
print(services.clock.now().isoformat())
services.close()
"""


@pytest.mark.slow
@pytest.mark.parametrize("skew", [-300, 300])
def test_a_machine_that_is_five_minutes_off_tells_the_database_s_time(
    postgres: Postgres, skew: int
) -> None:
    """Leases, deadlines and approvals are judged by it, so a fast clock takes over nothing."""
    code = _SKEWED.format(skew=skew, url=postgres.database())
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    with psycopg.connect(postgres.url) as connection:
        row = connection.execute("SELECT clock_timestamp()").fetchone()
    assert row is not None
    said = datetime.fromisoformat(done.stdout.strip())
    assert timedelta(0) <= row[0] - said < timedelta(seconds=30)


def test_a_clock_that_a_program_brings_is_left_alone(postgres: Postgres) -> None:
    """Only the machine's own is replaced, and only where machines share the store."""
    brought = FixedClock()
    with_own = open_services(postgres.database(), plugins=Plugins(clock=brought))
    assert with_own.clock is brought
    with_own.close()
    shared = open_services(postgres.database())
    assert isinstance(shared.clock, DatabaseClock)
    assert shared.plugins.clock is shared.clock
    shared.close()
    on_file = open_services("sqlite://")
    assert not isinstance(on_file.clock, DatabaseClock)
    on_file.close()


async def test_it_is_asked_for_again_by_what_is_read(postgres: Postgres) -> None:
    """Between two answers seconds are counted; a reading after half a minute asks on its way."""
    at = [1000.0]
    clock = DatabaseClock(elapsed=lambda: at[0])
    with connect(postgres.url, patience=1) as connection:
        clock.ask(connection)
        first = clock.now()
        at[0] += ASK_SECONDS - 1
        clock.ask(connection)
        assert clock.now() - first == timedelta(seconds=ASK_SECONDS - 1)
        at[0] += 1
        clock.ask(connection)
        # Time is half as fast until the database, where no time passed, has caught up.
        ahead = clock.now() - first
        at[0] += 10
        assert clock.now() - first - ahead == timedelta(seconds=5)
    await asyncio.sleep(0)
    assert clock.now().tzinfo is UTC
