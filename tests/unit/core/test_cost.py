"""The cost model: minutes and money saved, break-even, and thresholds from costs."""

from __future__ import annotations

from dataclasses import replace
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.learning.cost import (
    Work,
    estimate,
    reject_threshold_from_cost,
    target_from_cost,
)
from sureline.errors import InvalidInput

OFFICE = Work(items=500, seconds=30, to_people=0.3)


def test_the_plain_case() -> None:
    """500 items at 30 seconds with 30 % to people: 250 minutes become 75, less the upkeep."""
    found = estimate(OFFICE)
    assert (found.minutes_before, found.minutes_after) == (250, 75)
    assert found.saved_minutes == 175 - 15
    assert found.saved_money is None
    assert found.worth_it


def test_money_takes_the_judge_off() -> None:
    """160 minutes at 30 an hour, less 40 judgements at .05."""
    found = estimate(replace(OFFICE, wage=30.0, judge_price=0.05))
    assert found.judge_money == pytest.approx(2.0)
    assert found.saved_money == pytest.approx(80 - 2)


@given(
    seconds=st.floats(1, 3600),
    to_people=st.floats(0, 0.95),
    wage=st.floats(1, 500),
    price=st.floats(0, 1),
)
def test_at_break_even_nothing_is_won_or_lost(
    seconds: float, to_people: float, wage: float, price: float
) -> None:
    """The volume called break-even saves exactly nothing; a volume above it saves."""
    work = Work(items=1, seconds=seconds, to_people=to_people, wage=wage, judge_price=price)
    even = estimate(work).break_even_items
    if even is None:
        assert (estimate(replace(work, items=1e7)).saved_money or 0.0) < 0
        return
    saved = estimate(replace(work, items=even)).saved_money
    assert saved == pytest.approx(0, abs=1e-6 * (1 + even * seconds * wage))
    assert (estimate(replace(work, items=2 * even)).saved_money or 0.0) > 0


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        pytest.param({"items": 40}, "40 items a day are few", id="few"),
        pytest.param({"verifiable": False}, "audit 1 in 10", id="unverifiable"),
        pytest.param({"irreversible": True}, "never automated", id="irreversible"),
        pytest.param({"to_people": 1.0}, "at no volume", id="all-to-people"),
        pytest.param({"to_people": 0.95}, "from 600 items a day on", id="below-break-even"),
        pytest.param(
            {"wage": 20.0, "judge_price": 9.0, "judge_share": 1.0}, "at no volume", id="dear-judge"
        ),
    ],
)
def test_it_says_plainly_when_it_is_not_worth_it(changes: dict[str, float], said: str) -> None:
    """Each reason against a gate is a sentence."""
    found = estimate(replace(OFFICE, **changes))  # type: ignore[arg-type]
    assert not found.worth_it
    assert any(said in sentence for sentence in found.objections)


def test_irreversible_work_saves_nothing() -> None:
    """A person sees all of it, whatever share was hoped for."""
    assert estimate(replace(OFFICE, irreversible=True)).minutes_after == 250


def test_without_a_wage_a_price_is_not_compared_with_time() -> None:
    """No number is made up for what an hour costs."""
    assert estimate(replace(OFFICE, judge_price=0.1)).break_even_items is None


@pytest.mark.parametrize(
    ("wrong", "review", "target"), [(100.0, 2.0, 0.98), (5.0, 0.25, 0.95), (1.0, 2.0, -1.0)]
)
def test_the_target_follows_from_the_cost_of_an_error(
    wrong: float, review: float, target: float
) -> None:
    """Acting pays where the expected cost of the error is below the review's."""
    assert target_from_cost(wrong=wrong, review=review) == target


@pytest.mark.parametrize(
    ("retry", "correct", "low", "high"),
    [
        pytest.param(0.01, 0.5, 0.4, 0.5, id="a-cheap-retry-that-helps-half-the-time"),
        pytest.param(0.05, 0.8, 0.6, 0.7, id="an-expensive-model-that-mostly-gets-it-right"),
    ],
)
def test_the_reject_threshold_follows_from_the_cost_of_a_retry(
    retry: float, correct: float, low: float, high: float
) -> None:
    """With a review of .25: .4 to .5 for cheap retries, .6 to .7 for expensive models (G22)."""
    assert (
        low <= reject_threshold_from_cost(retry=retry, review=0.25, retry_correct=correct) <= high
    )


@given(retry=st.floats(0, 10), review=st.floats(0.01, 10), q=st.floats(0.05, 1), p=st.floats(0, 1))
def test_below_the_reject_threshold_a_retry_is_the_cheaper_way(
    retry: float, review: float, q: float, p: float
) -> None:
    """The rule agrees with the expected costs that it is derived from."""
    fresh = (review + (1 - q) * retry) / q
    reviewing, retrying = review + (1 - p) * (retry + fresh), retry + fresh
    threshold = reject_threshold_from_cost(retry=retry, review=review, retry_correct=q)
    if abs(p - threshold) > 1e-5:
        assert (p < threshold) == (retrying < reviewing)


@pytest.mark.parametrize(
    ("field", "value"),
    [("items", 0), ("seconds", -1), ("to_people", 1.1), ("wage", 0), ("items", nan), ("wage", inf)],
)
def test_a_number_that_cannot_be_is_refused(field: str, value: float) -> None:
    """The field and what was expected are named."""
    with pytest.raises(InvalidInput, match=f"{field}: expected a number"):
        replace(OFFICE, **{field: value})
