"""What a server says of an outage of its store: few lines, and figures for who is on call."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sureline.application.ports.keys import Role
from sureline.bootstrap import Services
from sureline.errors import StoreBusy, StoreError, StoreUnavailable
from tests.web.served import ADMIN, AUDITOR, Served, awaited, serve
from tests.web.test_metrics import Series, scraped, value


@dataclass
class Away:
    """Passes on what it is asked for, until the store is away."""

    inner: Any = None
    errors: list[StoreError] = field(default_factory=list)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)

        async def asked(*given: Any, **named: Any) -> Any:
            if self.errors:
                raise self.errors[-1]
            return await found(*given, **named)

        return asked


@contextmanager
def served_from(folder: Path) -> Iterator[tuple[Served, list[StoreError]]]:
    """Serve from a store that is away while the list holds an error; keys are asked each time."""
    errors: list[StoreError] = []

    def change(services: Services) -> Services:
        verifications: Any = Away(services.store.verifications, errors)
        keys: Any = Away(services.keys, errors)
        store = replace(services.store, verifications=verifications)
        return replace(services, store=store, keys=keys)

    with serve(folder, change=change) as served:
        yield served, errors


def later(served: Served, **time: float) -> None:
    served.clock.advance(timedelta(**time))


def test_an_outage_has_a_line_and_not_one_for_each_request(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Every request is refused and counted; the first has a line, then one a minute has."""
    with served_from(tmp_path) as (served, errors), caplog.at_level(logging.INFO, "sureline.web"):
        scraped(served)
        later(served, seconds=1)
        errors.append(StoreUnavailable("the database is away"))
        asked = [served.decide().status_code for _ in range(30)]
        later(served, seconds=30)
        asked += [served.decide().status_code for _ in range(10)]
        assert asked == [503] * 40
        assert [one.message for one in caplog.records] == ["the store failed: the database is away"]
        later(served, seconds=31)
        served.decide()
        assert caplog.records[-1].message.endswith("(40 times since this was last written)")
        assert [one.levelname for one in caplog.records] == ["ERROR", "ERROR"]
        assert value(scraped(served), "sureline_store_errors_total", error="StoreUnavailable") == 42


def test_a_scrape_during_an_outage_says_so(tmp_path: Path) -> None:
    """The scraper's key is taken from memory: alerts on what is then 0, and rises, can fire."""
    with served_from(tmp_path) as (served, errors):
        assert served.decide().status_code == 201
        before = scraped(served)
        later(served, seconds=1)
        errors.append(StoreUnavailable("away"))
        during = scraped(served)
        errors.clear()
        after = scraped(served)
    readable = [value(one, "sureline_state_readable") for one in (before, during, after)]
    assert readable == [1, 0, 1]
    assert failed(before) == {0.0}
    assert failed(during) == {0.0, 1.0}
    assert "sureline_queue_open" not in during
    assert during["sureline_decisions_total"] == before["sureline_decisions_total"]


def failed(series: Series) -> set[float]:
    """Return how often errors of the store were counted, each kind from the start."""
    return set(series["sureline_store_errors_total"].values())


@pytest.mark.parametrize("error", [StoreUnavailable("away"), StoreBusy("no connection left")])
def test_only_scrapes_trust_memory(tmp_path: Path, error: StoreError) -> None:
    """All else is a 503 once half a second has gone, with any role."""
    with served_from(tmp_path) as (served, errors):
        for role in Role:
            served.call("GET", "/v1/slices", role)
        later(served, seconds=1)
        errors.append(error)
        assert served.call("GET", "/metrics", AUDITOR).status_code == 200
        for method, path in (
            ("GET", "/v1/slices"),
            ("GET", "/v1/switches"),
            ("GET", "/v1/logbook"),
            ("GET", "/v1/decisions/any"),
            ("POST", "/v1/decisions"),
        ):
            assert served.call(method, path, ADMIN).status_code == 503


MEMORY = [
    pytest.param("known", 3590, 200, id="within-the-hour"),
    pytest.param("known", 3601, 503, id="after-the-hour"),
    pytest.param("new", 1, 503, id="never-seen"),
    pytest.param("revoked", 1, 503, id="disowned-before"),
    pytest.param("agent", 1, 403, id="of-the-wrong-role"),
]


@pytest.mark.parametrize(("which", "seconds", "status"), MEMORY)
def test_what_is_remembered(tmp_path: Path, which: str, seconds: float, status: int) -> None:
    """A key is good for an hour after the store knew it, unless the store disowned it since."""
    with served_from(tmp_path) as (served, errors):
        secret = served.keys[Role.AGENT] if which == "agent" else served.make_key(AUDITOR)
        with served.client(secret=secret) as client:
            if which != "new":
                client.get("/v1/slices")
            if which == "revoked":
                for one in awaited(served.services.keys.all("default")):
                    awaited(served.services.keys.revoke("default", one.id, served.clock.now()))
                later(served, seconds=1)
                assert client.get("/metrics").status_code == 401
            later(served, seconds=seconds)
            errors.append(StoreUnavailable("away"))
            assert client.get("/metrics").status_code == status
            errors.clear()
            back = {"known": 200, "new": 200, "revoked": 401, "agent": 403}[which]
            assert client.get("/metrics").status_code == back
