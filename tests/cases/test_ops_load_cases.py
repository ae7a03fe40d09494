"""The row of area 7-ops about a server that is full, or whose handlers fail."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from typing import Any

import httpx
import pytest

from sureline.adapters.storage.ledger import SqlLedger
from sureline.application.ports.keys import Role
from sureline.application.ports.ledger import Prior
from sureline.bootstrap import Plugins, open_services
from sureline.testing import FixedClock
from sureline.web.settings import ServerSettings
from tests.cases.test_history_cases import Cases
from tests.outbox.told import until
from tests.postgres import Postgres
from tests.web.served import POLICY, awaited, running


async def decide(client: httpx.AsyncClient, name: str) -> httpx.Response:
    body = {"id": name, "slice_key": "invoices", "task": "read it", "output": {"total": 1}}
    return await client.post("/v1/decisions", json=body)


async def test_o09_a_failing_handler_keeps_no_connection(
    cases: Cases, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixty callers, ten seats, handlers that raise: afterwards all seats and connections are free.

    While all seats are taken the next caller gets 503 with Retry-After, and the health answers.
    """
    given = cases["O09"]["input"]
    going, held = threading.Event(), list[str]()
    prior = SqlLedger.prior

    async def troubled(self: SqlLedger, *, decision_id: str | None, **more: Any) -> Prior:
        found = await prior(self, decision_id=decision_id, **more)
        if decision_id is not None and decision_id.startswith("bad"):
            raise RuntimeError("a fault in a handler")
        if decision_id is not None and decision_id.startswith("slow"):
            held.append(decision_id)
            await until(going.is_set)
        return found

    monkeypatch.setattr(SqlLedger, "prior", troubled)
    clock = FixedClock()
    services = open_services(postgres.database(), plugins=Plugins(clock=clock))
    awaited(services.policies.introduce(POLICY))
    key = services.keys.create(
        name="agent", role=Role.AGENT, workspace="default", slices=(), at=clock.now()
    )
    headers = {"authorization": f"Bearer {awaited(key)[1]}"}
    settings = ServerSettings(deciding=given["pool"])
    with running(services, settings) as url:
        async with httpx.AsyncClient(base_url=url, headers=headers, timeout=20) as client:
            for turn in range(3):
                bad = [decide(client, f"bad-{turn}-{n}") for n in range(given["concurrency"])]
                counted = Counter(one.status_code for one in await asyncio.gather(*bad))
                assert set(counted) <= {500, 503}
                assert counted[500] >= given["pool"]
            slow = [asyncio.create_task(decide(client, f"slow-{n}")) for n in range(given["pool"])]
            await until(lambda: len(held) == given["pool"])
            found = await decide(client, "next")
            assert found.status_code == 503
            assert int(found.headers["retry-after"]) >= 1
            assert (await client.get("/healthz")).status_code == 200
            going.set()
            assert {one.status_code for one in await asyncio.gather(*slow)} == {201}
            for number in range(given["concurrency"]):
                assert (await decide(client, f"good-{number}")).status_code == 201
