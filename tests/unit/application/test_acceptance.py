"""A suggestion becomes a proposed policy with one key changed, and only for what was read."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
import pytest_asyncio

from sureline.application.acceptance import accepted_json, file_lines, offer_of
from sureline.application.calibration_report import CalibrationReport
from sureline.application.logbook import Change
from sureline.application.policy_diff import policy_diff
from sureline.core.learning.key_change import KeyChange
from sureline.core.review.honeypot import PlantedAnswer, PlantedFor
from sureline.errors import Conflict, InvalidInput, NotFound, Refused
from sureline.testing import MOMENT
from tests.reported import POLICY, World, filled_world, reported


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """Half a year of decisions; the tests propose policies and activate none."""
    async with filled_world("sqlite://", tmp_path_factory.mktemp("world")) as filled:
        yield filled


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def report(world: World) -> CalibrationReport:
    """The report on it."""
    return await reported(world)


pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_it_is_proposed_and_changes_nothing(world: World, report: CalibrationReport) -> None:
    """The new policy differs in that key alone, and the one that holds is what it was."""
    book = world.services.policies
    before = await book.latest()
    mark = offer_of(report, "refunds", "first_certificate").mark
    made = await world.services.acceptance.accept(
        report, "refunds", "first_certificate", by="ada", mark=mark
    )
    (changed,) = policy_diff(before, await book.stored(made.policy.hash))
    assert (changed.key, changed.before, changed.after) == (
        "slices.refunds.mode",
        "log_only",
        "route",
    )
    assert accepted_json(made) == {
        "policy": made.policy.hash,
        "key": "slices.refunds.mode",
        "before": "log_only",
        "after": "route",
        "restricted": False,
        "warnings": [],
    }
    assert await book.active_hash() == before.hash
    assert await world.services.ledger.switches_on("default", "refunds", None) == []


async def test_it_stands_in_the_logbook(world: World, report: CalibrationReport) -> None:
    """Who accepted which suggestion, of which slice, and what policy came of it."""
    made = await world.services.acceptance.accept(
        report, "invoices", "field_edited:vendor", by=" ada "
    )
    entry = [
        one
        for one in await world.services.logbook.entries()
        if one.change is Change.SUGGESTION and one.slice_key == "invoices"
    ][-1]
    assert (entry.subject, entry.by) == (made.policy.hash, "ada")
    assert entry.note == "proposed slices.invoices.rules as field_edited:vendor suggests"


async def test_giving_a_slice_to_people_says_that_it_holds_at_once(
    world: World, report: CalibrationReport
) -> None:
    """As with every proposal that restricts: the slice's switch is on."""
    letters = next(one for one in report.slices if one.slice_key == "letters")
    assert "frequent_override" in {one.code for one in letters.suggestions}
    made = await world.services.acceptance.accept(report, "letters", "frequent_override", by="ada")
    assert made.restricted
    assert [
        one.scope for one in await world.services.ledger.switches_on("default", "letters", None)
    ]


@pytest.mark.parametrize(
    ("slice_key", "suggestion", "mark", "error", "words"),
    [
        pytest.param("refunds", "first_certificate", "x", Conflict, "have changed", id="stale"),
        pytest.param("refunds", "proof_lost", None, Conflict, "do not suggest", id="gone"),
        pytest.param("none", "proof_lost", None, NotFound, "no slice", id="no slice"),
        pytest.param("contracts", "low_approval", None, Refused, "prompt", id="no key does it"),
    ],
)
async def test_what_does_not_hold_any_more_is_refused(
    world: World,
    report: CalibrationReport,
    slice_key: str,
    suggestion: str,
    mark: str | None,
    error: type[Exception],
    words: str,
) -> None:
    """Nothing is proposed, and the message says what the figures say now."""
    known = len(await world.services.policies.proposed())
    with pytest.raises(error, match=words):
        await world.services.acceptance.accept(report, slice_key, suggestion, by="ada", mark=mark)
    assert len(await world.services.policies.proposed()) == known


async def test_nobody_and_the_guard_accept_nothing(world: World, report: CalibrationReport) -> None:
    """A person's name is asked for."""
    for name in (" ", "guard"):
        with pytest.raises(InvalidInput):
            await world.services.acceptance.accept(report, "refunds", "first_certificate", by=name)


async def test_a_report_of_another_policy_is_old(world: World, report: CalibrationReport) -> None:
    """What was read was of a policy that does not hold any more."""
    with pytest.raises(Conflict, match="another policy"):
        await world.services.acceptance.accept(
            replace(report, policy="0" * 64), "refunds", "first_certificate", by="ada"
        )


async def test_noticed_errors_reach_the_suggestions(world: World) -> None:
    """What reviewers said of planted errors in a slice is what unanimity there is held to."""
    answers = [
        PlantedAnswer(
            review_id=f"p{number}",
            slice_key="refunds",
            purpose=PlantedFor.HONEYPOT,
            by="ada",
            correct=number < 2,
            seconds=9.0,
            answered_at=MOMENT,
        )
        for number in range(20)
    ]

    class Answered:
        async def answers(self, workspace: str, since: object) -> list[PlantedAnswer]:
            return answers

        async def done(self, workspace: str, since: object) -> list[object]:
            return []

        async def unplanted(self, workspace: str) -> dict[str, object]:
            return {}

    recalibrator = world.services.recalibrator
    assert recalibrator.reviewers is not None
    reviewers = replace(recalibrator.reviewers, planted=Answered())  # type: ignore[arg-type]
    reporter = replace(
        world.services.reporter, recalibrator=replace(recalibrator, reviewers=reviewers)
    )
    found = {one.slice_key: one for one in (await reporter.report()).slices}
    assert (found["refunds"].reviewed.detection.caught, 20) == (18, 20)
    claims = found["claims"]
    assert (claims.reviewed.detection.shown, claims.precision.pooled) == (20, True)
    assert not found["refunds"].precision.pooled


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        (
            KeyChange(path=("mode",), before="route", after="human_only"),
            ("slices:", '  "a b":', '    mode: "human_only"'),
        ),
        (
            KeyChange(path=("rules",), before=[{"field": "a"}], after=[{"field": "a"}, {"f": 1}]),
            ("slices:", '  "a b":', "    rules:", '      - {"f": 1}'),
        ),
    ],
)
async def test_the_change_is_told_as_lines_of_a_file(
    change: KeyChange, lines: tuple[str, ...]
) -> None:
    """Whoever keeps the policy in a file can put it there too, in YAML."""
    assert file_lines("a b", change) == lines


async def test_what_is_proposed_is_what_a_file_would_be(
    world: World, report: CalibrationReport
) -> None:
    """The same change made by hand in the file is the same policy, by its hash."""
    made = await world.services.acceptance.accept(report, "refunds", "first_certificate", by="ada")
    text = POLICY.replace("refunds: {mode: log_only", "refunds: {mode: route")
    assert world.services.policies.check(text).policy.hash == made.policy.hash
