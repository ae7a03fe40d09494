"""The calibration report: what it advises, from which figures, and that it only looks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest
import pytest_asyncio

from sureline.application.calibration_report import CalibrationReport, SliceReport, report_json
from sureline.application.mistakes import MOST
from sureline.application.ports.ledger import RouteDay
from sureline.application.route_rates import MONTHS, WEEKS, route_rates
from sureline.cli.report_tables import show_report
from sureline.core.canonical import canonical_json
from sureline.core.learning.suggestions import Advice
from sureline.core.statistics.reliability import Calibrated
from sureline.core.values.periods import day_number
from sureline.core.values.switch import Switch
from sureline.testing import MOMENT
from tests.reported import BEFORE, World, deductions_in, filled_world, open_world, reported


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """Half a year of decisions, to be looked at only."""
    async with filled_world("sqlite://", tmp_path_factory.mktemp("world")) as filled:
        yield filled


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def report(world: World) -> CalibrationReport:
    """The report on it."""
    return await reported(world)


def of(report: CalibrationReport, key: str) -> SliceReport:
    return next(one for one in report.slices if one.slice_key == key)


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize(
    ("key", "advice", "code"),
    [
        ("claims", Advice.COLLECT, "labels_missing"),
        ("contracts", Advice.REPAIR, "low_approval"),
        ("invoices", Advice.LOOSEN, "lower_threshold"),
        ("letters", Advice.TIGHTEN, "guard_tripped"),
        ("refunds", Advice.LOOSEN, "first_certificate"),
    ],
)
async def test_each_slice_gets_the_advice_that_its_past_asks_for(
    report: CalibrationReport, key: str, advice: Advice, code: str
) -> None:
    """The slices were made to need different things, and the report finds them."""
    assert of(report, key).advice is advice
    assert of(report, key).suggestions[0].code == code
    assert of(report, key) in report.advised(advice)


async def test_commands_carry_out_what_is_advised(report: CalibrationReport) -> None:
    """A looser threshold is one activation; a slice that only logs must be told to route, too."""
    name = report.calibration
    activate = f"sureline recalibrate; then sureline calibration activate {name} --by NAME"
    assert of(report, "invoices").command == activate
    assert of(report, "refunds").command == (
        f"{activate}; then set mode: route for this slice in the policy"
    )
    assert of(report, "letters").command is None


async def test_a_field_that_is_edited_often_is_flagged(report: CalibrationReport) -> None:
    """Every edit of invoices changed the vendor."""
    (field,) = [one for one in of(report, "invoices").suggestions if one.code == "field_edited"]
    assert "vendor" in field.sentence
    assert of(report, "invoices").mistakes.corrections.keys() == {"vendor"}


async def test_only_what_routes_acts_alone(report: CalibrationReport) -> None:
    """A log-only slice holds no threshold, whatever it has proven."""
    assert of(report, "refunds").held is None
    assert of(report, "refunds").held_by == "nothing"
    held = of(report, "invoices").held
    assert held is not None
    assert of(report, "invoices").held_by == "certificate"


async def test_reliability_before_and_after(report: CalibrationReport) -> None:
    """A slice whose scores promise too much is called overconfident; its map mends that."""
    letters = of(report, "letters")
    before = letters.before.table.buckets[-1]
    assert before.verdict is Calibrated.OVERCONFIDENT
    assert letters.after is not None
    assert letters.after.table.ece is not None
    assert letters.before.table.ece is not None
    assert letters.after.table.ece < letters.before.table.ece / 2
    assert letters.before.brier is not None
    low, high = letters.before.brier.interval
    assert low < letters.before.brier.value < high


async def test_recent_scores_stand_beside_those_before(
    report: CalibrationReport, world: World
) -> None:
    """Both histograms together hold all decisions; the recent one is four weeks long."""
    scores = of(report, "invoices").scores
    assert scores.recent.n + scores.reference.n == 12 * 30 + 12 * 120
    assert scores.since == (world.clock.now() - timedelta(weeks=3)).date()


async def test_mistakes_are_capped_and_counted_in_full(report: CalibrationReport) -> None:
    """Letters have more high-scored mistakes than are listed; all of them are counted."""
    found = of(report, "letters").mistakes
    assert found.band is not None
    assert len(found.shown) == MOST < found.wrong
    assert sum(week.wrong for week in found.weeks) == found.wrong
    assert sum(week.labels for week in found.weeks) == found.labels
    scores = [one.score for one in found.shown]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) >= found.band.threshold


async def test_each_mistake_has_a_draft_to_edit(report: CalibrationReport) -> None:
    """It names the field that was wrong and the signals that did not notice."""
    drafts = [one for one in of(report, "invoices").mistakes.shown if one.fields]
    assert drafts
    for one in drafts:
        (entry,) = deductions_in(one.draft)
        assert (entry["id"], entry["points"]) == ("wrong_vendor", 20)
        assert entry["text"].startswith("The value of vendor is wrong.")
        assert "unnoticed by verification 0." in entry["text"]


async def test_a_terminal_shows_three_mistakes_a_slice(
    report: CalibrationReport, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever wants them all is told where; drafts that are the same stand there once."""
    letters = replace(report, slices=(of(report, "letters"),))
    show_report(letters)
    said = capsys.readouterr().out
    shown = of(report, "letters").mistakes.shown
    assert sum(one.id in said for one in shown) == 3
    assert f"and {MOST - 3} more in the JSON" in said
    assert said.count("labels: of a fair sample; left out are") == 1
    assert said.count("  points: 20") == len({one.draft for one in shown[:3]})


async def test_without_a_threshold_the_top_tenth_is_looked_at(report: CalibrationReport) -> None:
    """Mistakes are listed where nothing is certified, too."""
    found = of(report, "contracts").mistakes
    assert found.band is not None
    assert found.band.basis == "the top tenth of scores"
    assert 0 < found.labels <= 0.15 * of(report, "contracts").scores.reference.n


async def test_the_guard_speaks_but_does_not_act(report: CalibrationReport, world: World) -> None:
    """The report shows that letters tripped; turning the switch is the watch's business."""
    watch = of(report, "letters").watch
    assert watch is not None
    assert watch.guard.tripped
    assert not watch.turned
    assert not watch.with_people
    assert await world.services.ledger.switches("default") == []


async def test_nothing_is_stored(report: CalibrationReport, world: World) -> None:
    """A report proposes no calibration; only the one that was made before is there."""
    (stored,) = await world.services.registry.calibrations("default")
    assert stored["id"] == report.active != report.calibration


async def test_json_has_the_same_numbers(report: CalibrationReport) -> None:
    """It is plain JSON, the same bytes each time, without the tables of maps."""
    found = report_json(report)
    assert canonical_json(found) == canonical_json(report_json(report))
    letters = found["slices"][[one.slice_key for one in report.slices].index("letters")]
    assert letters["mistakes"]["wrong"] == of(report, "letters").mistakes.wrong
    assert letters["routes"]["months"][-1]["automation"] > 0.5
    assert "tables" not in letters["mistakes"]["band"]


async def test_another_report_is_the_same(report: CalibrationReport, world: World) -> None:
    """Nothing in it depends on chance or on the moment of asking."""
    assert await reported(world) == report


async def test_an_empty_store_has_a_report(tmp_path: Path) -> None:
    """Without a decision every slice lacks labels, and no number is made up."""
    async with open_world("sqlite://", tmp_path) as world:
        report = await reported(world)
    assert {one.advice for one in report.slices} == {Advice.COLLECT}
    assert report.active is None
    for one in report.slices:
        assert one.before.brier is None
        assert one.after is None
        assert one.scores.recent.median is None
        assert one.mistakes.band is None
    canonical_json(report_json(report))


async def test_a_switch_of_a_person_is_shown(tmp_path: Path) -> None:
    """The slice is with people, and the report says so."""
    async with open_world("sqlite://", tmp_path) as world:
        await world.week(BEFORE)
        await world.services.ledger.set_switch(
            Switch(
                workspace="default",
                scope="slice:letters",
                on=True,
                reason="a test",
                by="ada",
                changed_at=MOMENT,
            )
        )
        watch = of(await reported(world), "letters").watch
    assert watch is not None
    assert watch.with_people


async def test_routes_by_week_and_month() -> None:
    """Days add up to weeks from Monday and to calendar months; the latest are kept."""
    start = day_number(MOMENT)
    days = [
        RouteDay(slice_key="a", day=start + day, route=route, count=count)
        for day in range(500)
        for route, count in (("auto_approve", 1 if day > 400 else 3), ("human_review", 2))
    ]
    rates = route_rates(days)
    assert (len(rates.weeks), len(rates.months)) == (WEEKS, MONTHS)
    assert rates.weeks[-2].decisions == 7 * 3
    assert rates.weeks[-2].low
    assert not rates.months[0].low
    assert rates.months[-1].first == date(2027, 5, 1)


async def test_a_month_without_automation_is_not_low() -> None:
    """The warning is for slices that automate; one that only logs is as it should be."""
    only = RouteDay(slice_key="a", day=day_number(MOMENT), route="human_review", count=5)
    assert not route_rates([only]).months[0].low
