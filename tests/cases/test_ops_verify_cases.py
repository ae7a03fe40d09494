"""The row of area 7-ops about who runs the verifier: everybody's installation does, by itself."""

from __future__ import annotations

import logging
import time
from pathlib import Path

import pytest

from sureline.application.jobs import JobSettings
from sureline.application.ports.keys import Role
from sureline.bootstrap import Services, open_services
from sureline.bootstrap.working import working
from sureline.testing import FixedClock
from tests.cases.doors import sureline
from tests.cases.stores import damage, on_file
from tests.cases.test_history_cases import Cases
from tests.outbox.told import outbox, policy, submit
from tests.postgres import Postgres
from tests.web.browsing import Visitor
from tests.web.served import Served, running
from tests.web.test_metrics import scraped, value

ROOT = Path(__file__).parents[2]
HOLDS, AT = "sureline_ledger_holds", "sureline_ledger_verified_timestamp_seconds"


async def verified_by_itself(services: Services) -> dict[str, bool]:
    """Work beside nothing until the ledger was verified; return how that went."""
    began = time.monotonic()
    with working(services, jobs=False, deliver=False):
        while not (found := await services.store.verifications.latest()):
            assert time.monotonic() - began < 30
    return {one.extent.value: one.ok for one in found}


def shown_by_server(services: Services) -> None:
    """Look at the metrics and at the dashboard, as Prometheus and an admin do."""
    clock = FixedClock(services.clock.now())
    with running(services) as url:
        served = Served(services=services, clock=clock, url=url)
        served.keys.update((role, served.make_key(role)) for role in (Role.ADMIN, Role.AUDITOR))
        metrics = scraped(served)
        page = Visitor(served, Role.ADMIN).get("/dashboard").text
        for client in served.clients.values():
            client.close()
    assert value(metrics, HOLDS, extent="whole") == 0
    assert value(metrics, AT, extent="whole") > 0
    assert "Verification found that the ledger does not hold" in page


async def test_o29_the_verifier_runs_by_itself(
    cases: Cases, tmp_path: Path, postgres: Postgres, caplog: pytest.LogCaptureFixture
) -> None:
    """At the start what is new, daily all of it; what does not hold is logged, shown and told."""
    assert cases["O29"]["input"]["install"] == "default"
    assert JobSettings().verify.days == 1
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    for url in (f"sqlite:///{tmp_path / 'store.db'}", postgres.database()):
        services = open_services(url)
        await services.policies.introduce(policy("{name: team, kind: message, address_from: TEAM}"))
        await submit(services)
        assert "verify" in {job.name for job, _ in await services.jobs.states()}
        assert await verified_by_itself(services) == {"whole": True}
        state = await services.jobs.run("verify")
        assert state.message is not None
        assert state.message.startswith("the ledger holds")
        damage(url, "UPDATE decisions SET route = 'auto_approve'")
        with caplog.at_level(logging.ERROR):
            state = await services.jobs.run("verify")
        assert "DOES NOT HOLD" in str(state.message)
        assert "DOES NOT HOLD" in caplog.text
        await services.store.outbox.spread(
            "default",
            (await services.policies.latest()).notifications.receivers,
            now=services.clock.now(),
            limit=9,
        )
        assert "ledger.broken" in {one.notice.kind for one in await outbox(services)}
        shown_by_server(services)
        if on_file(url):
            verify = sureline(tmp_path, "ledger", "verify", "--store", url)
            assert verify.returncode == 1
