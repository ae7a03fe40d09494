"""What wakes the workers never fails what is told."""

from __future__ import annotations

import logging

import psycopg
import pytest

from sureline.adapters.storage.store import open_store
from tests.adapters.storage.samples import record, switch
from tests.postgres import Postgres

_DROP = b"DROP FUNCTION sureline_wake(text, text[])"
_TAKE = (
    b"CREATE OR REPLACE FUNCTION sureline_wake(task text, queues text[]) RETURNS boolean "
    b"LANGUAGE plpgsql AS $$ BEGIN RETURN false; END $$"
)


@pytest.mark.parametrize("change", [_DROP, _TAKE], ids=["dropped", "fails"])
@pytest.mark.parametrize("when", ["before", "while it is open"])
async def test_without_it_all_is_written(
    postgres: Postgres, caplog: pytest.LogCaptureFixture, change: bytes, when: str
) -> None:
    """A function that is gone, or says no, costs a wake-up; a line in the log says so."""
    url = postgres.database()
    store = open_store(url)
    if when == "while it is open":
        await store.ledger.set_switch(switch())
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(change)
    with caplog.at_level(logging.WARNING):
        await store.ledger.set_switch(switch(on=False))
        await store.ledger.set_switch(switch())
        assert (await store.ledger.append(record(1))).created
    assert "could not be woken" in caplog.text
    assert (await store.ledger.verify()).rows == (4 if when == "while it is open" else 3)
    store.close()
