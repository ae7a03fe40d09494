"""The result's figures, the report's value and the terminal."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from sureline.core.values.certificate import Certificate, ErrorRate, NoCertificate, Uncertified
from sureline.core.values.decision import Reason, Route
from sureline.demo.ranking import auroc
from sureline.demo.report import report_data
from sureline.demo.result import DemoResult, Routed, result_json
from sureline.demo.terminal import print_result

NOW = datetime(2026, 7, 1, tzinfo=UTC)
CERTIFICATE = Certificate(
    id="cert_1", workspace="default", slice_key="a", threshold=0.9, target=0.95, delta=0.05,
    error_rate=ErrorRate.PER_SLICE, family_size=1, n=100, in_band=80, correct=79, coverage=0.8,
    lower_bound=0.951, method="m", data_hash="d", policy_hash="p", measurement_hash="h",
    issued_at=NOW,
)  # fmt: skip
MISSING = Uncertified(
    slice_key="b", reason=NoCertificate.INSUFFICIENT_DATA, n=9, labels_missing=50,
    best_lower_bound=0.6, best_threshold=0.8, message="9 labels are too few",
)  # fmt: skip


def routed(
    route: Route, *, correct: bool, slice_key: str = "a", score: float | None = 0.9
) -> Routed:
    """Make one item after the gate."""
    return Routed(
        id="x",
        slice_key=slice_key,
        route=route,
        score=score,
        reasons=(Reason(code="below_threshold", message="0.5 against [0.9]."),),
        correct=correct,
        wrong=(),
    )


RESULT = DemoResult(
    about="Ten outputs.",
    target=0.95,
    delta=0.05,
    logged=(
        routed(Route.HUMAN_REVIEW, correct=True),
        routed(Route.HUMAN_REVIEW, correct=False, score=0.2),
        routed(Route.HUMAN_REVIEW, correct=True, slice_key="b"),
    ),
    routed=(
        routed(Route.AUTO_APPROVE, correct=True),
        routed(Route.AUTO_APPROVE, correct=False),
        routed(Route.HUMAN_REVIEW, correct=True, slice_key="b", score=None),
        routed(Route.ABSTAIN, correct=False),
    ),
    verdicts={"a": CERTIFICATE, "b": MISSING},
    seconds=1.0,
)
IDLE = replace(RESULT, routed=RESULT.routed[2:], verdicts={"b": MISSING})


def test_figures_compare_with_the_truth() -> None:
    """Automation and precision count the routed part only, and a miss is a miss."""
    assert (RESULT.automation, RESULT.precision, RESULT.missed) == (0.5, 0.5, True)
    assert RESULT.routes == {Route.AUTO_APPROVE: 2, Route.HUMAN_REVIEW: 1, Route.ABSTAIN: 1}
    assert RESULT.reasons["below_threshold"][0] == 2


def test_miss_is_said_with_what_chance_can_explain() -> None:
    """A run below its target says so, and whether its interval reaches the target."""
    assert "chance can explain it" in " ".join(report_data(RESULT, made_at=NOW).notes)
    wrong = tuple(replace(item, correct=False) for item in RESULT.routed[:2]) * 20
    bad = replace(RESULT, routed=wrong)
    assert "Chance hardly explains it" in " ".join(report_data(bad, made_at=NOW).notes)
    assert not any("less precise" in note for note in report_data(IDLE, made_at=NOW).notes)


def test_nothing_automated_is_no_precision() -> None:
    """Without automation there is no precision to boast of, and no miss."""
    assert (IDLE.automation, IDLE.precision, IDLE.missed) == (0.0, None, False)
    assert "No certificate" in report_data(IDLE, made_at=NOW).headline.sentence


def test_report_and_json_say_the_same() -> None:
    """The report's headline has the figures of the JSON."""
    values, head = result_json(RESULT), report_data(RESULT, made_at=NOW).headline
    assert (values["automated"], values["precision"]) == (head.automated, head.precision)
    assert values["slices"]["a"]["certified"] is True
    assert values["slices"]["b"]["labels_missing"] == 50


@pytest.mark.parametrize("result", [RESULT, IDLE], ids=["certified", "idle"])
def test_terminal_prints_what_came_out(result: DemoResult) -> None:
    """The table names the slices, the reasons as they are, and says so when nothing is known."""
    out = io.StringIO()
    print_result(Console(file=out, width=200), result)
    text = out.getvalue()
    assert "0.5 against [0.9]." in text
    assert "9 labels are too few" in text


def test_auroc_of_known_cases() -> None:
    """1 where every right item is above every wrong one, half for ties, None without both."""
    assert auroc([0.9, 0.8, 0.1], [True, True, False]) == 1.0
    assert auroc([0.5, 0.5], [True, False]) == 0.5
    assert auroc([0.1, 0.9], [True, False]) == 0.0
    assert auroc([0.1], [True]) is None


@given(st.lists(st.tuples(st.sampled_from([0.1, 0.5, 0.9]), st.booleans()), max_size=30))
def test_auroc_is_the_share_of_pairs(rows: list[tuple[float, bool]]) -> None:
    """It equals the count over all pairs of a right and a wrong item."""
    right = [score for score, label in rows if label]
    wrong = [score for score, label in rows if not label]
    found = auroc([score for score, _ in rows], [label for _, label in rows])
    if not right or not wrong:
        assert found is None
        return
    won = sum((r > w) + 0.5 * (r == w) for r in right for w in wrong)
    assert found == pytest.approx(won / (len(right) * len(wrong)))
