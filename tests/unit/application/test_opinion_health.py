"""The health of second opinions: figures with what they rest on, and alarms that mean something."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import numpy as np
import pytest

from sureline.application.opinion_alarms import (
    DISAGREEMENTS,
    FAILS_MOSTLY,
    FAILURES,
    OFF_THE_SCALE,
)
from sureline.application.opinion_health import HealthReader, HealthReport, health_json
from sureline.application.ports.opinion_counts import OpinionDay, OpinionSums
from sureline.core.canonical import canonical_json
from sureline.core.values.opinion_use import DURATIONS, End, OpinionKey
from sureline.core.values.periods import date_of, day_number
from sureline.errors import InvalidInput
from sureline.testing import MOMENT, FixedClock

TODAY = day_number(MOMENT)
JUDGE = "openai:judge"


@dataclass
class Counted:
    """Counts that a test writes down."""

    rows: list[OpinionDay] = field(default_factory=list)

    def add(
        self,
        end: End,
        count: int = 1,
        *,
        day: int = TODAY,
        reason: str = "",
        asked: str = JUDGE,
        slice_key: str = "invoices",
        duration: int = -1,
        **sums: int,
    ) -> None:
        key = OpinionKey(
            signal="judge",
            asked=asked,
            answered=f"{asked}-1" if asked and end is not End.FAILED else "",
            end=end,
            reason=reason,
            duration=duration,
        )
        added = OpinionSums(count=count, **sums)
        self.rows.append(OpinionDay(slice_key=slice_key, day=day, key=key, sums=added))

    async def days(self, workspace: str, since_day: int) -> Sequence[OpinionDay]:
        return sorted((one for one in self.rows if one.day >= since_day), key=lambda one: one.day)


async def health(counted: Counted, days: int = 28) -> HealthReport:
    return await HealthReader(counts=counted, clock=FixedClock(), workspace="default").read(days)


def past(
    counted: Counted, *, failed: int, asked: int, refuted: int = 0, days: range = range(1, 35)
) -> None:
    """Write a steady past of so many opinions a day."""
    for ago in days:
        counted.add(End.FAILED, failed, day=TODAY - ago, reason="timeout")
        counted.add(End.REFUTED, refuted, day=TODAY - ago)
        counted.add(End.AGREED, asked - failed - refuted, day=TODAY - ago)


async def test_a_mean_comes_with_its_coverage() -> None:
    """Case J22: five answers of ten have a mean of 1, and a coverage of one half beside it."""
    counted = Counted()
    counted.add(End.AGREED, 5, value=5_000_000, valued=5)
    counted.add(End.FAILED, 5, reason="refused")
    counted.add(End.NOT_SAMPLED, 90, asked="")
    (one,) = (await health(counted)).opinions
    assert (one.mean, one.valued, one.asked, one.coverage) == (1.0, 5, 10, 0.5)
    assert (one.reasons, one.not_sampled) == ({"refused": 5}, 90)


async def test_unknown_costs_are_not_0() -> None:
    """Where three of four costs are known, those three are averaged and counted."""
    counted = Counted()
    counted.add(End.AGREED, 3, cost=6_000_000, costed=3, day=TODAY - 1)
    counted.add(End.AGREED, 1)
    (one,) = (await health(counted)).opinions
    assert (one.cost, one.costed, one.cost_each, one.cost_a_day) == (6.0, 3, 2.0, 3.0)
    empty = Counted()
    empty.add(End.AGREED, 3)
    (unknown,) = (await health(empty)).opinions
    assert (unknown.cost, unknown.cost_each, unknown.mean_ms, unknown.p95_ms) == (None,) * 4


async def test_latency_has_a_mean_and_a_tail() -> None:
    """Nineteen fast replies and two slow ones: the mean is in between, the tail is slow."""
    counted = Counted()
    counted.add(End.AGREED, 19, duration=14, ms=19 * 120, timed=19)
    counted.add(End.AGREED, 2, duration=26, ms=2 * 8_000, timed=2)
    (one,) = (await health(counted)).opinions
    assert one.mean_ms == pytest.approx((19 * 120 + 16_000) / 21)
    assert one.p95_ms == DURATIONS[26]


async def test_a_late_opinion_counts_for_the_model_that_was_asked() -> None:
    """A failure without a card belongs to the model of its day, not to one without a name."""
    counted = Counted()
    counted.add(End.AGREED, 10, day=TODAY - 2, asked="a:old")
    counted.add(End.AGREED, 10, asked="b:new")
    counted.add(End.FAILED, 3, reason="deadline", asked="")
    counted.add(End.FAILED, 2, reason="deadline", asked="", day=TODAY - 1)
    found = {one.model: one.failures.part for one in (await health(counted)).opinions}
    assert found == {"a:old": 2, "b:new": 3}


async def test_failures_that_jump_alarm_and_are_dated() -> None:
    """A rise from 2 to 25 % two days ago names slice, signal, model and day."""
    counted = Counted()
    past(counted, failed=2, asked=100, days=range(3, 35))
    past(counted, failed=25, asked=100, days=range(3))
    (alarm,) = (await health(counted)).alarms
    assert (alarm.kind, alarm.slice_key, alarm.signal, alarm.model) == (
        FAILURES, "invoices", "judge", JUDGE,
    )  # fmt: skip
    assert alarm.since == date_of(TODAY - 2)
    assert "25.0 % (25 of 100)" in alarm.sentence


@pytest.mark.parametrize(("refuted", "words"), [(45, "more often"), (0, "less often")])
async def test_a_judge_that_objects_more_or_less_alarms(refuted: int, words: str) -> None:
    """Objecting to everything and objecting to nothing are both a change of the judge."""
    counted = Counted()
    past(counted, failed=0, asked=100, refuted=20)
    past(counted, failed=0, asked=100, refuted=refuted, days=range(1))
    (alarm,) = (await health(counted)).alarms
    assert alarm.kind == DISAGREEMENTS
    assert words in alarm.sentence


async def test_a_small_slice_is_seen_by_the_week() -> None:
    """At 12 opinions a day a third that fails shows in the week, if not in the day."""
    counted = Counted()
    past(counted, failed=0, asked=12, days=range(7, 35))
    past(counted, failed=4, asked=12, days=range(7))
    (alarm,) = (await health(counted)).alarms
    assert (alarm.now.whole, alarm.since) == (84, date_of(TODAY - 6))


async def test_a_model_that_never_worked_alarms_without_a_past() -> None:
    """There is nothing to compare with, and more than half of its opinions failed."""
    counted = Counted()
    counted.add(End.FAILED, 20, reason="unauthorized")
    counted.add(End.AGREED, 4)
    (alarm,) = (await health(counted)).alarms
    assert (alarm.kind, alarm.p_value) == (FAILS_MOSTLY, None)
    assert "unauthorized 20" in alarm.sentence


@pytest.mark.parametrize(
    ("off", "asked", "alarms"), [(3, 200, True), (2, 60, False), (3, 300, False), (30, 100, True)]
)
async def test_replies_off_the_scale_alarm_from_1_percent_on(
    off: int, asked: int, alarms: bool
) -> None:
    """Case J07: a model that answers 9 where 0 to 1 was asked is told apart from a bad day."""
    counted = Counted()
    counted.add(End.FAILED, off, reason="confidence_out_of_range")
    counted.add(End.FAILED, asked // 4, reason="timeout")
    counted.add(End.AGREED, asked - asked // 4 - off)
    kinds = {one.kind for one in (await health(counted)).alarms}
    assert (OFF_THE_SCALE in kinds) is alarms


async def test_a_steady_year_is_silent() -> None:
    """Three slices with different rates and volumes, looked at each day of a year: no alarm."""
    chance = np.random.default_rng(7)
    counted, clock = Counted(), FixedClock(MOMENT - timedelta(days=365))
    for day in range(TODAY - 410, TODAY + 1):
        for key, asked, share in (("a", 6, 0.3), ("b", 60, 0.05), ("c", 300, 0.01)):
            failed = int(chance.binomial(asked, share))
            refuted = int(chance.binomial(asked - failed, 0.2))
            counted.add(End.FAILED, failed, day=day, slice_key=key)
            counted.add(End.REFUTED, refuted, day=day, slice_key=key)
            counted.add(End.AGREED, asked - failed - refuted, day=day, slice_key=key)
    by_day: dict[int, list[OpinionDay]] = {}
    for row in counted.rows:
        by_day.setdefault(row.day, []).append(row)
    alarms = []
    for _ in range(365):
        today = day_number(clock.now())
        recent = Counted([row for day in range(today - 40, today + 1) for row in by_day[day]])
        reader = HealthReader(counts=recent, clock=clock, workspace="default")
        alarms += (await reader.read()).alarms
        clock.advance(timedelta(days=1))
    assert alarms == []


async def test_the_report_is_json() -> None:
    """Everything in it can be written as JSON, with shares and dates."""
    counted = Counted()
    past(counted, failed=2, asked=100)
    past(counted, failed=60, asked=100, days=range(1))
    found = health_json(await health(counted))
    canonical_json(found)
    (shown,), (alarm,) = found["opinions"], found["alarms"]
    assert shown["alarms"] == ["failures"]
    assert shown["coverage"] == pytest.approx(1 - 114 / 2_800)
    assert alarm["now"] == {"part": 60, "whole": 100, "share": 0.6}
    assert alarm["since"] == date_of(TODAY).isoformat()


async def test_nothing_gives_an_empty_report() -> None:
    """A store without opinions has no rows and no alarms; a window has at least a day."""
    report = await health(Counted())
    assert (report.opinions, report.alarms) == ((), ())
    with pytest.raises(InvalidInput, match="1 or more"):
        await health(Counted(), days=0)
