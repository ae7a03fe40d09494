"""Composition: weighted mean, caps, and what a lost signal does."""

from __future__ import annotations

import pytest

from sureline.core.gate.composition import assess
from sureline.core.values.assessment import Missing
from sureline.core.values.checks import ChecksPolicy
from sureline.core.values.policy import PRESETS, JudgePolicy
from sureline.core.values.signal import Signal, SignalKind, SignalState
from tests.builders import measured, slice_policy

GRADUATED = slice_policy(weights=PRESETS["graduated"])
INDEPENDENT = slice_policy(weights=PRESETS["independent"], judge=JudgePolicy(model="m"))


def test_the_worked_figure_of_the_graduated_preset_comes_out() -> None:
    """.3 x .9 + .4 x 1 + .3 x .85 is .925."""
    signals = [
        measured("self_evaluation", 0.9),
        measured("verification", 1.0),
        measured("history", 0.85),
    ]
    assert assess(signals, GRADUATED).composite == 0.925


@pytest.mark.parametrize(
    ("signal", "missing", "young"),
    [
        pytest.param(None, "not_given", None, id="omitted"),
        pytest.param(
            Signal.failed("history", SignalKind.HISTORICAL, "embedding_failed"),
            "embedding_failed",
            None,
            id="failed",
        ),
        pytest.param(
            Signal.not_applicable("history", SignalKind.HISTORICAL, "novel"),
            "novel",
            None,
            id="novel",
        ),
        pytest.param(
            Signal.not_applicable("history", SignalKind.HISTORICAL, "uninformative"),
            "uninformative",
            None,
            id="uninformative",
        ),
        pytest.param(
            Signal.not_applicable("history", SignalKind.HISTORICAL, "too_few"),
            None,
            "too_few",
            id="too-few-is-young",
        ),
    ],
)
def test_a_weighted_signal_that_is_not_measured_is_missing_or_young(
    signal: Signal | None, missing: str | None, young: str | None
) -> None:
    """Every absence but the slice's youth adds a person, and the rest is renormalised."""
    rest = [measured("self_evaluation", 0.9), measured("verification", 1.0)]
    assessed = assess([*rest, *([signal] if signal else [])], GRADUATED)
    assert assessed.missing == ((Missing(name="history", why=missing),) if missing else ())
    assert assessed.young == ((Missing(name="history", why=young),) if young else ())
    assert assessed.composite == pytest.approx((0.3 * 0.9 + 0.4) / 0.7)


@pytest.mark.parametrize(
    ("state", "reason", "counts_as_missing"),
    [
        (SignalState.NOT_SAMPLED, "not_sampled", False),
        (SignalState.NOT_APPLICABLE, "inconclusive", False),
        (SignalState.NOT_APPLICABLE, "other", True),
        (SignalState.FAILED, "deadline", True),
    ],
)
def test_only_a_judge_left_out_by_design_is_dropped(
    state: SignalState, reason: str, counts_as_missing: bool
) -> None:
    """C30: a judge that was not sampled or was inconclusive drops out; a failed one does not."""
    judge = Signal(name="judge", kind=SignalKind.JUDGE, state=state, reason=reason)
    rest = [measured(name, 0.9) for name in ("self_report", "verification", "history")]
    assert bool(assess([*rest, judge], INDEPENDENT).missing) is counts_as_missing


@pytest.mark.parametrize("value", [0.0, 1e-16, 1e-10])
def test_a_fatal_verification_caps_the_composite(value: float) -> None:
    """S38: dust left by a sum of penalties is as fatal as zero."""
    signals = [
        measured("self_evaluation", 1.0),
        measured("verification", value),
        measured("history", 1.0),
    ]
    assessed = assess(signals, GRADUATED)
    assert assessed.fatal
    assert assessed.composite == 0.2


def test_unweighted_checks_and_judge_are_needed_all_the_same() -> None:
    """What can stop an output must be there, whatever its weight."""
    policy = slice_policy(
        weights={"history": 1.0}, checks=ChecksPolicy(), judge=JudgePolicy(model="m")
    )
    missing = assess([measured("history", 1.0)], policy).missing
    assert [one.name for one in missing] == ["judge", "verification"]


@pytest.mark.parametrize(
    "weights", [{"verification": 0.6, "history": 0.8}, {"verification": 3, "history": 4}]
)
def test_weights_need_not_sum_to_one(weights: dict[str, float]) -> None:
    """C25: the composite of perfect signals is 1, whatever the weights sum to."""
    signals = [measured("verification", 1.0), measured("history", 1.0)]
    assert assess(signals, slice_policy(weights=weights)).composite == 1.0


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (float("nan"), "not_finite"),
        (float("inf"), "not_finite"),
        (1.7, "out_of_range"),
        (-1.0, "out_of_range"),
        (True, "not_a_number"),
        ("0.9", "not_a_number"),
    ],
)
def test_a_value_that_is_no_probability_becomes_a_failed_signal(value: object, reason: str) -> None:
    """C26: NaN, infinities, booleans and values outside [0, 1] never enter a score."""
    signal = Signal.measured("history", SignalKind.HISTORICAL, value)
    assert (signal.state, signal.value, signal.reason) == (SignalState.FAILED, None, reason)
