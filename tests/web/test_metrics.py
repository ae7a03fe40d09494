"""What Prometheus reads: sound, bounded whatever is sent, and there when the store is not."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from sureline.application.operations import SCOPES
from sureline.application.ports.jobs import JobState
from sureline.application.ports.keys import Role
from sureline.application.ports.store_figures import StoreFigures
from sureline.bootstrap import Services
from sureline.core.gate.routing import GUARD
from sureline.core.values.decision import Route
from sureline.core.values.switch import Switch
from sureline.errors import StoreUnavailable
from sureline.testing import MOMENT
from sureline.web.app import OPERATIONS, PAGES
from sureline.web.metrics import Metrics
from tests.adapters.storage.mission_samples import HERE, begin, mission, suspend
from tests.web.served import Served, awaited, serve

MARK = "Kowalczyk-4711"
Series = dict[str, dict[tuple[tuple[str, str], ...], float]]


def scraped(served: Served) -> Series:
    """Return every sample by name and labels, read as Prometheus reads them."""
    answer = served.call("GET", "/metrics", Role.AUDITOR)
    assert answer.status_code == 200
    return parsed(answer.text)


def parsed(text: str) -> Series:
    found: Series = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = tuple(sorted(sample.labels.items()))
            assert labels not in found.get(sample.name, {}), f"{sample.name}{labels} twice"
            found.setdefault(sample.name, {})[labels] = sample.value
    return found


def value(series: Series, metric: str, /, **labels: str) -> float:
    return series[metric][tuple(sorted(labels.items()))]


def turn(served: Served, scope: str, *, by: str = "ops") -> None:
    switch = Switch(workspace="default", scope=scope, on=True, reason="r", by=by, changed_at=MOMENT)
    awaited(served.services.ledger.set_switch(switch))


def test_hostile_traffic_adds_no_series(served: Served) -> None:
    """Names, paths, methods, models and reasons of strangers make no series of their own."""
    served.decide()
    for at in range(40):
        name = f"{MARK}-{at}"
        served.decide(slice_key=name, id=name)
        served.decide(id=name, batch_id=name, generator={"model": name, "family": name})
        served.decide(output={"total": name}, generations=[name])
        served.call("GET", f"/{name}")
        served.call("GET", f"/v1/decisions/{name}", Role.ADMIN)
        served.call("POST", f"/v1/reviews/{name}/claim", Role.REVIEWER, json={})
        served.call(f"X{at}", "/v1/decisions")
        served.call("GET", "/metrics", None, headers={"authorization": f"Bearer {name}"})
        turn(served, f"batch:{name}", by=name)
        turn(served, f"slice:{name}", by=name)
    series = scraped(served)
    text = served.call("GET", "/metrics", Role.AUDITOR).text
    assert MARK not in text
    labels = {name for samples in series.values() for one in samples for name, _ in one}
    assert "decision_id" not in labels
    slices, routes = 2, len(Route)
    paths = len({one.path for one in (*OPERATIONS, *PAGES)}) + 1
    assert len(series["sureline_decisions_total"]) <= slices * routes
    assert len(series["sureline_decision_seconds_count"]) <= slices
    assert len(series["sureline_http_requests_total"]) <= 3 * paths
    assert len(series["sureline_switches_on"]) == len(SCOPES)
    assert len(series["sureline_guard_tripped"]) == slices
    assert sum(map(len, series.values())) < 500


def test_every_metric_is_ours_and_says_what_it_is(served: Served) -> None:
    """Each family has a sentence of help; names begin with ours or with the process's."""
    text = served.call("GET", "/metrics", Role.AUDITOR).text
    for family in text_string_to_metric_families(text):
        assert family.name.startswith(("sureline_", "process_"))
        assert family.documentation.strip().endswith((".", "seconds"))


def test_switches_are_counted_by_kind(served: Served) -> None:
    """On-call sees which kinds are on, and what the guard turned."""
    hard = Switch(
        workspace="default",
        scope="global",
        on=True,
        reason="r",
        by="environment",
        changed_at=MOMENT,
    )
    served.services.plugins.hard_switch.on.append(hard)  # type: ignore[attr-defined]
    turn(served, "batch:b1")
    turn(served, "batch:b2")
    turn(served, "slice:invoices", by=GUARD)
    series = scraped(served)
    counts = {scope: value(series, "sureline_switches_on", scope=scope) for scope in SCOPES}
    assert counts == {"environment": 1, "global": 0, "slice": 1, "batch": 2}
    assert value(series, "sureline_guard_tripped", slice="invoices") == 1
    assert value(series, "sureline_guard_tripped", slice="replies") == 0


def test_jobs_tell_when_they_ran(served: Served) -> None:
    """A job has the moment of its last end, that of its next run and its failures in a row."""
    jobs, at = served.services.store.jobs, served.clock.now()
    claim = JobState(
        name="watch", due_at=at, owner="w", started_at=at, leased_until=at + timedelta(hours=1)
    )
    assert awaited(jobs.claim("default", claim, latest=at + timedelta(days=8)))
    done = replace(
        claim, due_at=at + timedelta(minutes=1), finished_at=at, failures=3, message=MARK
    )
    awaited(jobs.finish("default", done))
    series = scraped(served)
    assert value(series, "sureline_job_failures", name="watch") == 3
    assert value(series, "sureline_job_ended_timestamp_seconds", name="watch") == at.timestamp()
    assert (
        value(series, "sureline_job_due_timestamp_seconds", name="watch")
        == (at + timedelta(minutes=1)).timestamp()
    )


def test_missions_are_counted_by_kind_and_state(served: Served) -> None:
    """On-call sees how many wait; neither an id nor an objective is a label."""
    new = mission(objective=MARK)
    missions = served.services.store.missions
    awaited(missions.create(begin(new)))
    awaited(missions.create(begin(replace(new, id=MARK))))
    awaited(missions.change(HERE, new.id, suspend))
    series = scraped(served)
    assert value(series, "sureline_missions", kind=new.kind, state="suspended") == 1
    assert value(series, "sureline_missions", kind=new.kind, state=new.state.value) == 1
    assert sum(series["sureline_missions"].values()) == 2
    assert MARK not in served.call("GET", "/metrics", Role.AUDITOR).text


def test_writes_are_counted(served: Served) -> None:
    """A decision is a write in a group commit of known length."""
    before = scraped(served)
    served.decide()
    after = scraped(served)
    for name in ("sureline_store_jobs_total", "sureline_store_commit_seconds_count"):
        assert value(after, name) > value(before, name)
    assert value(after, "sureline_store_waiting") == 0
    inf = value(after, "sureline_store_commit_seconds_bucket", le="+Inf")
    assert inf == value(after, "sureline_store_commit_seconds_count")


def test_failures_of_the_store_have_names() -> None:
    """Each error of the store is a series; there are as many as classes."""
    metrics = Metrics()
    batches = (*[0] * 12, 1)
    metrics.store.figures = lambda: StoreFigures(
        batches=batches, seconds=9.0, jobs=2, failed={"StoreFull": 2}
    )
    series = parsed(metrics.text().decode())
    assert value(series, "sureline_store_failures_total", error="StoreFull") == 2
    assert value(series, "sureline_store_commit_seconds_bucket", le="5.0") == 0
    assert value(series, "sureline_store_commit_seconds_sum") == 9.0


def test_without_the_store_there_is_no_old_news(tmp_path: Path) -> None:
    """What the process counted stays; what the store knew is gone, and said to be."""

    class Away:
        broken = False

        async def latest(self) -> object:
            if self.broken:
                raise StoreUnavailable("away")
            return ()

    away = Away()

    def change(services: Services) -> Services:
        return replace(services, store=replace(services.store, verifications=away))  # type: ignore[arg-type]

    with serve(tmp_path, change=change) as served:
        served.decide()
        assert value(scraped(served), "sureline_state_readable") == 1
        away.broken = True
        series = scraped(served)
    assert value(series, "sureline_state_readable") == 0
    assert sum(series["sureline_decisions_total"].values()) == 1
    for name in ("sureline_switches_on", "sureline_guard_tripped", "sureline_queue_open"):
        assert name not in series
    assert value(series, "sureline_outbox_dead") != value(series, "sureline_outbox_dead")


def test_without_a_policy_the_process_is_seen_all_the_same(tmp_path: Path) -> None:
    """A store that has no policy yet has no figures, and that is shown."""
    with serve(tmp_path, policy=None) as served:
        assert served.call("GET", "/readyz").status_code == 503
        series = scraped(served)
    assert value(series, "sureline_state_readable") == 0
    assert value(series, "sureline_store_waiting") == 0


def test_models_at_rest_are_shown(served: Served) -> None:
    """A model that is left alone after faults is told from one that answers."""
    served.services.plugins.resting.append(lambda: {"openai:a": True, "openai:b": False})
    series = scraped(served)
    shown = Counter({dict(one)["model"]: n for one, n in series["sureline_model_resting"].items()})
    assert (shown["openai:a"], shown["openai:b"]) == (1, 0)


def test_scrapes_at_once_do_not_mix(served: Served) -> None:
    """Several readers at the same time each get a whole answer."""

    async def many() -> list[Series]:
        import httpx

        key = {"authorization": f"Bearer {served.keys[Role.AUDITOR]}"}
        async with httpx.AsyncClient(base_url=served.url, headers=key) as client:
            answers = await asyncio.gather(*(client.get("/metrics") for _ in range(8)))
        return [parsed(one.text) for one in answers]

    for series in awaited(many()):
        assert len(series["sureline_guard_tripped"]) == 2
