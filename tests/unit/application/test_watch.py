"""The watch trips what fell, alarms where scores moved, and leaves the rest alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from sureline.application.watch import guard_start, watch_json
from sureline.bootstrap import Plugins, Services, open_services
from sureline.core.canonical import canonical_json
from sureline.core.statistics.bins import score_bin
from sureline.core.values.outcome import Action, OutcomeSource
from sureline.core.values.switch import Switch
from sureline.testing import MOMENT, FixedClock
from tests.adapters.storage.samples import judged_body, outcome, record

POLICY = """\
version: 1
slices:
  invoices: {mode: route, weights: {verification: 1}, audit_rate: 0.1}
  replies: {mode: log_only, weights: {verification: 1}}
"""
WEEK, DAY = timedelta(weeks=1), timedelta(days=1)


@dataclass
class Watched:
    """A store with two slices, whose decisions and audits a test writes down."""

    services: Services
    clock: FixedClock
    measurement: str
    number: int = 0

    async def decided(self, count: int = 1, *, score: float = 0.9, **changes: Any) -> list[str]:
        """Write automated decisions of now; return their ids."""
        ids = []
        for _ in range(count):
            self.number += 1
            values = {
                "route": "auto_approve",
                "measurement_hash": self.measurement,
                "score_bin": score_bin(score),
                "created_at": self.clock.now(),
                "vector": None,
                **changes,
            }
            await self.services.ledger.append(record(self.number, **values))
            ids.append(f"d{self.number}")
        return ids

    async def audited(self, right: int, wrong: int) -> None:
        """Write automated decisions with their audits, the wrong ones last."""
        ids = await self.decided(right + wrong, audit=True)
        for place, one in enumerate(ids):
            correct = place < right
            await self.services.ledger.record_outcome(
                outcome(
                    f"of {one}",
                    one,
                    source=OutcomeSource.AUDIT,
                    correct=correct,
                    action=Action.APPROVE if correct else Action.REJECT,
                    recorded_at=self.clock.now(),
                )
            )

    async def switch(self, *, on: bool, by: str = "Ada") -> None:
        await self.services.ledger.set_switch(
            Switch(
                workspace="default",
                scope="slice:invoices",
                on=on,
                reason="a test",
                by=by,
                changed_at=self.clock.now(),
            )
        )

    async def rows(self) -> list[tuple[bool, str]]:
        history = await self.services.ledger.switch_history("default")
        return [(one.on, one.by) for one in history]


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    """Open a store in memory with the policy above, no calibration active."""
    clock = FixedClock()
    (tmp_path / "policy.yaml").write_text(POLICY, "utf-8")
    async with open_services("sqlite://", plugins=Plugins(clock=clock)) as services:
        await services.prepare(tmp_path / "policy.yaml")
        policy = await services.policies.latest()
        yield Watched(services, clock, policy.measurement_hashes["invoices"])


async def test_a_slice_that_keeps_its_target_is_left_alone(watched: Watched) -> None:
    """Three wrong in a hundred is no reason to stop at a target of .95."""
    await watched.audited(97, 3)
    report = await watched.services.watcher.watch()
    assert report.calm
    assert await watched.rows() == []
    (invoices, replies) = report.slices
    assert (invoices.guard.labels, invoices.guard.errors) == (100, 3)
    assert replies.guard.labels == 0


async def test_a_fall_turns_the_ordinary_switch_once(watched: Watched) -> None:
    """The guard turns it on with its figures; looking again adds nothing."""
    await watched.audited(40, 20)
    first = await watched.services.watcher.watch()
    second = await watched.services.watcher.watch()
    assert (first.tripped, second.tripped) == (("invoices",), ("invoices",))
    assert [one.slices[0].turned for one in (first, second)] == [True, False]
    assert await watched.rows() == [(True, "guard")]
    (switch,) = await watched.services.ledger.switches_on("default", "invoices", None)
    assert "20 of the last 60 audited outputs were wrong" in switch.reason


async def test_only_a_person_resets_it_and_it_begins_anew(watched: Watched) -> None:
    """After the reset old labels no longer count, and a new fall trips again."""
    await watched.audited(40, 20)
    await watched.services.watcher.watch()
    watched.clock.advance(DAY)
    await watched.switch(on=False)
    report = await watched.services.watcher.watch()
    assert report.calm
    assert report.slices[0].guard.labels == 0
    await watched.audited(40, 20)
    assert (await watched.services.watcher.watch()).slices[0].turned
    assert await watched.rows() == [(True, "guard"), (False, "Ada"), (True, "guard")]


async def test_a_person_s_switch_is_not_written_over(watched: Watched) -> None:
    """Their reason stays; once they turn it off, the guard's word still stands."""
    await watched.switch(on=True)
    await watched.audited(40, 20)
    report = await watched.services.watcher.watch()
    assert (report.slices[0].turned, report.slices[0].with_people) == (False, True)
    watched.clock.advance(DAY)
    await watched.switch(on=False)
    assert (await watched.services.watcher.watch()).slices[0].turned


async def test_only_audits_count(watched: Watched) -> None:
    """Reviews and unaudited outputs say nothing about the automated ones' precision."""
    for one in await watched.decided(60, route="human_review"):
        wrong = {"action": Action.REJECT, "correct": False}
        await watched.services.ledger.record_outcome(outcome(f"of {one}", one, **wrong))
    await watched.decided(60)
    await watched.decided(3, audit=True)
    report = await watched.services.watcher.watch()
    assert report.calm
    assert (report.slices[0].guard.labels, report.slices[0].due) == (0, 3)


async def test_an_incident_counts_against_an_audited_approval(watched: Watched) -> None:
    """The guard sees what turned out later, not what the auditor thought."""
    await watched.audited(60, 0)
    for number in range(1, 21):
        incident = {"source": OutcomeSource.INCIDENT, "correct": False, "action": Action.REJECT}
        await watched.services.ledger.record_outcome(
            outcome(f"late {number}", f"d{number}", **incident)
        )
    assert (await watched.services.watcher.watch()).tripped == ("invoices",)


@pytest.mark.parametrize(
    ("rows", "start"),
    [
        pytest.param([], None, id="nothing happened"),
        pytest.param([(True, "Ada"), (False, "Ada")], None, id="a person's own switch"),
        pytest.param([(True, "guard")], None, id="not reset yet"),
        pytest.param([(True, "guard"), (False, "Ada")], 1, id="reset"),
        pytest.param([(True, "guard"), (True, "Ada"), (False, "Ada")], 2, id="on twice"),
        pytest.param([(True, "guard"), (False, "Ada"), (True, "Ada"), (False, "Ada")], 1, id="two"),
    ],
)
def test_where_the_guard_begins(rows: list[tuple[bool, str]], start: int | None) -> None:
    """Turning off what the guard turned on is a reset; any other switch is not."""
    history = [
        Switch(
            workspace="default",
            scope="slice:invoices",
            on=on,
            reason="a test",
            by=by,
            changed_at=MOMENT + place * DAY,
        )
        for place, (on, by) in enumerate(rows)
    ]
    assert guard_start(history) == (None if start is None else MOMENT + start * DAY)


async def test_scores_that_moved_alarm_in_the_week_after(watched: Watched) -> None:
    """Four weeks are the reference; a whole week beside it is tested, this week never is."""
    for _ in range(4):
        await watched.decided(60, score=0.9)
        watched.clock.advance(WEEK)
    await watched.decided(60, score=0.9)
    assert (await watched.services.watcher.watch()).slices[0].drift is None
    watched.clock.advance(WEEK)
    await watched.decided(60, score=0.7)
    calm = (await watched.services.watcher.watch()).slices[0].drift
    assert calm is not None
    assert not calm.alarm
    watched.clock.advance(WEEK)
    report = await watched.services.watcher.watch()
    drift = report.slices[0].drift
    assert drift is not None
    assert report.drifted == ("invoices",)
    assert (drift.alarm, drift.scores.rose, drift.alarmed) == (True, False, (drift.week,))
    assert drift.week.weekday() == 0
    assert "may be seasonal" in drift.note


async def test_scores_that_go_missing_alarm_too(watched: Watched) -> None:
    """What no threshold could use any more is drift, although the others look as ever."""
    for _ in range(5):
        await watched.decided(60)
        watched.clock.advance(WEEK)
    await watched.decided(30)
    await watched.decided(30, score_bin=None)
    watched.clock.advance(WEEK)
    drift = (await watched.services.watcher.watch()).slices[0].drift
    assert drift is not None
    assert (drift.scores.alarm, drift.unscored.alarm) == (False, True)
    assert drift.unscored.now == 0.5


@pytest.mark.parametrize(
    ("automated", "low"), [(40, True), (60, False), (0, False)], ids=["less", "more", "never"]
)
async def test_little_automation_is_remarked(watched: Watched, automated: int, low: bool) -> None:
    """A slice that automates less than half of a month is named; it alarms nobody."""
    await watched.decided(automated)
    await watched.decided(100 - automated, route="human_review")
    report = await watched.services.watcher.watch()
    assert report.slices[0].low_automation is low
    assert report.calm
    (month,) = report.slices[0].months
    assert (month.first.isoformat(), month.automation) == ("2026-01-01", automated / 100)


async def test_opinions_that_fail_alarm_and_turn_nothing(watched: Watched) -> None:
    """A judge that stops answering is named, with slice and model; no switch and no threshold."""
    await watched.decided(50, body=judged_body(1.0))
    watched.clock.advance(DAY)
    calm = await watched.services.watcher.watch()
    await watched.decided(20, body=judged_body(None, "timeout"), route="human_review")
    report = await watched.services.watcher.watch()
    assert (calm.calm, report.calm, report.tripped) == (True, False, ())
    (alarm,) = report.opinions.alarms
    assert (alarm.kind, alarm.slice_key, alarm.model) == ("failures", "invoices", "openai:small")
    assert await watched.rows() == []
    found = watch_json(report)["opinions"]
    assert [one["slice_key"] for one in found["alarms"]] == ["invoices"]


async def test_the_report_is_plain_json(watched: Watched) -> None:
    """Nothing in it needs a special encoder, and there is no NaN."""
    for _ in range(6):
        await watched.decided(10)
        watched.clock.advance(WEEK)
    canonical_json(watch_json(await watched.services.watcher.watch()))
