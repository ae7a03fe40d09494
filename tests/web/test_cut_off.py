"""A server whose database is slow, away or silent, over real sockets (O09)."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import pytest

from sureline.adapters.delivering import DeliveryThread
from sureline.adapters.jobs.thread import JobThread
from sureline.adapters.storage import store as stores
from sureline.adapters.sweeping import SweepThread
from sureline.application.ports.keys import Role
from sureline.bootstrap import Plugins, Services, courier_of, open_services, opening
from sureline.bootstrap.sweeping import sweep_of
from sureline.testing import FixedClock
from sureline.web.settings import ServerSettings
from tests.cut_line import Line, line_to
from tests.postgres import Postgres
from tests.postgres import postgres as postgres
from tests.web.served import POLICY, HeldSwitch, awaited, running

PATIENCE = 0.5
HURRY = ServerSettings(key_seconds=0.001)
"""The key is looked up with every request: nothing is remembered that hides the database."""


@dataclass
class Cut:
    """A running server, the line to its database, and a key."""

    url: str
    line: Line
    services: Services
    secret: str

    def client(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(
            base_url=self.url, headers={"authorization": f"Bearer {self.secret}"}, timeout=20
        )


@pytest.fixture
def cut(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cut]:
    """A server behind a line, which waits half a second where others wait five."""
    with _served(postgres, monkeypatch, HURRY) as one:
        yield one


@contextmanager
def _served(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch, settings: ServerSettings
) -> Iterator[Cut]:
    def hurried(url: str, **options: bool) -> stores.Store:
        return stores.open_store(url, busy_timeout=PATIENCE, **options)

    monkeypatch.setattr(opening, "open_store", hurried)
    with line_to(postgres.database()) as line:
        plugins = Plugins(clock=FixedClock(), hard_switch=HeldSwitch())
        services = open_services(line.url, plugins=plugins)
        awaited(services.policies.introduce(POLICY))
        made = services.keys.create(
            name="agent", role=Role.AGENT, workspace="default", slices=(), at=plugins.clock.now()
        )
        secret = awaited(made)[1]
        with running(services, settings) as url:
            yield Cut(url, line, services, secret)
            line.mend()


async def _decide(client: httpx.AsyncClient, number: int) -> tuple[int, httpx.Response, float]:
    began = time.perf_counter()
    answer = await client.post(
        "/v1/decisions",
        json={
            "id": f"d{number}",
            "slice_key": "invoices",
            "task": "read it",
            "output": {"total": number},
        },
    )
    return number, answer, time.perf_counter() - began


async def _asked(client: httpx.AsyncClient, path: str) -> tuple[int, float]:
    began = time.perf_counter()
    answer = await client.get(path)
    return answer.status_code, time.perf_counter() - began


async def test_while_the_database_is_away_everybody_is_told_at_once(cut: Cut) -> None:
    """503 with Retry-After, a live process, no seat left taken; then all goes on by itself."""
    async with cut.client() as client:
        before = await asyncio.gather(*(_decide(client, n) for n in range(20)))
        assert {answer.status_code for _, answer, _ in before} == {201}
        cut.line.cut()
        await _decide(client, 1000)  # the first finds out
        found = await asyncio.gather(*(_decide(client, n) for n in range(20, 80)))
        assert {answer.status_code for _, answer, _ in found} == {503}
        assert {answer.headers["retry-after"] for _, answer, _ in found} == {"1"}
        assert max(seconds for *_, seconds in found) < 2
        assert (await _asked(client, "/healthz"))[0] == 200
        assert (await _asked(client, "/readyz"))[0] == 503
        cut.line.mend()
        began = time.perf_counter()
        for _ in range(250):
            if (await _asked(client, "/readyz"))[0] == 200:
                break
            await asyncio.sleep(0.02)
        assert time.perf_counter() - began < 5
        after = await asyncio.gather(*(_decide(client, n) for n in range(20, 80)))
        assert {answer.status_code for _, answer, _ in after} <= {200, 201}
    report = await cut.services.ledger.verify()
    assert report.fault is None
    for number in range(80):
        assert await cut.services.ledger.decision("default", f"d{number}") is not None


def test_what_runs_beside_the_server_goes_on_by_itself(
    cut: Cut, caplog: pytest.LogCaptureFixture
) -> None:
    """Sweeping, jobs and deliveries say that they could not, and can again once it is back."""

    def look() -> int:
        caplog.clear()
        SweepThread(sweep_of(cut.services)).look()
        JobThread(cut.services.jobs).look()
        DeliveryThread(lambda _: courier_of(cut.services).serve(lambda: True)).look()
        return len([one for one in caplog.records if one.name.startswith("sureline.adapters")])

    assert look() == 0
    cut.line.cut()
    assert look() >= 2
    cut.line.mend()
    for _ in range(250):
        if look() == 0:
            return
        time.sleep(0.02)
    pytest.fail("it did not go on")


async def test_a_silent_database_holds_up_nobody_for_long(cut: Cut) -> None:
    """Who was under way is told after a moment, the health answers all the while."""
    async with cut.client() as client:
        assert (await _decide(client, 0))[1].status_code == 201
        cut.line.silence()
        work = asyncio.gather(*(_decide(client, n) for n in range(1, 31)))
        health = []
        while not work.done():
            health.append(await _asked(client, "/healthz"))
            await asyncio.sleep(0.02)
        found = await work
        assert {answer.status_code for _, answer, _ in found} == {503}
        assert {status for status, _ in health} == {200}
        assert max(seconds for _, seconds in health) < 0.5
        *_, seconds = await _decide(client, 31)
        assert seconds < PATIENCE


async def test_a_slow_database_makes_slow_answers_and_no_wrong_ones(cut: Cut) -> None:
    """Latency grows; what was answered is stored, and the health answers at once."""
    async with cut.client() as client:
        await _decide(client, 0)
        cut.line.line.delay = 0.1
        work = asyncio.gather(*(_decide(client, n) for n in range(1, 61)))
        health = []
        while not work.done():
            health.append((await _asked(client, "/healthz"))[1])
            await asyncio.sleep(0.02)
        found = await work
        cut.line.line.delay = 0.0
    counted = Counter(answer.status_code for _, answer, _ in found)
    assert set(counted) <= {201, 503}
    assert counted[201] > 0
    assert max(health) < 0.5
    for number, answer, _ in found:
        if answer.status_code == 201:
            stored = await cut.services.ledger.decision("default", f"d{number}")
            assert stored is not None
            assert stored.route == answer.json()["route"]


async def test_more_than_it_has_seats_for_are_sent_away_at_once(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixty callers and ten seats, with a slow database: the others get 503, not a place to wait.

    Afterwards every seat is free again, and the health needed none.
    """
    settings = ServerSettings(deciding=10)
    with _served(postgres, monkeypatch, settings) as cut:
        async with cut.client() as client:
            await _decide(client, 0)
            cut.line.line.delay = 0.03
            found = await asyncio.gather(*(_decide(client, n) for n in range(1, 61)))
            cut.line.line.delay = 0.0
            counted = Counter(answer.status_code for _, answer, _ in found)
            refused = [answer for _, answer, _ in found if answer.status_code == 503]
            assert set(counted) == {201, 503}
            assert counted[201] >= 10
            assert {answer.headers["retry-after"] for answer in refused} == {"1"}
            again = [(await _decide(client, n))[1].status_code for n in range(1, 61)]
            assert set(again) <= {200, 201}
