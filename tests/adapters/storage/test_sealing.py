"""The thread beside a server seals what was decided, within its tick."""

from __future__ import annotations

import time

from sureline.bootstrap import open_services, sweep_thread
from tests.adapters.storage.samples import record
from tests.postgres import Postgres
from tests.postgres import postgres as postgres


async def test_what_was_decided_is_sealed_by_itself(postgres: Postgres) -> None:
    """Soon after a decision no row is left that could be cut off unseen."""
    async with open_services(postgres.database()) as services:
        await services.store.ledger.append(record(1))
        assert any("no seal" in one for one in (await services.ledger.verify()).cannot_see)
        with sweep_thread(services):
            until = time.monotonic() + 10
            while any("no seal" in one for one in (await services.ledger.verify()).cannot_see):
                assert time.monotonic() < until, "nothing was sealed"
        assert (await services.ledger.verify()).fault is None


async def test_on_sqlite_there_is_nothing_to_seal() -> None:
    """One stream needs no seal, and none is written."""
    async with open_services("sqlite://") as services:
        await services.store.ledger.append(record(1))
        assert not await services.store.ledger.seal(services.clock.now())
        assert (await services.ledger.verify()).rows == 1
