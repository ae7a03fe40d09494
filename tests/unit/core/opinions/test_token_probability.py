"""Log-probabilities become one number in [0, 1], or a reason why they do not."""

from __future__ import annotations

import math
import random
import sys
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sureline.core.opinions.token_probability import token_probability
from sureline.core.values.signal import SignalState


@pytest.mark.parametrize(
    ("logprobs", "value", "lowest"),
    [
        pytest.param([0.0, 0.0], 1.0, 1.0, id="certain"),
        pytest.param([math.log(0.5)] * 3, 0.5, 0.5, id="equal"),
        pytest.param([math.log(0.25), 0.0], 0.5, 0.25, id="geometric mean, not arithmetic"),
        pytest.param([0, -1], math.exp(-0.5), math.exp(-1), id="whole numbers"),
        pytest.param([1e-7, 0.0], 1.0, 1.0, id="rounding above zero"),
        pytest.param([-1e308] * 9, 0.0, 0.0, id="too small to be said"),
        pytest.param([-9999.0, 0.0], 0.0, 0.0, id="a provider's floor"),
    ],
)
def test_the_geometric_mean_is_measured(logprobs: list[Any], value: float, lowest: float) -> None:
    """The value is exp(mean(log p)); the least likely token is in the detail."""
    signal = token_probability(logprobs)
    assert signal.value == pytest.approx(value, abs=1e-12)
    assert signal.detail == {"tokens": len(logprobs), "lowest": pytest.approx(lowest, abs=1e-6)}


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        pytest.param(True, "not_a_number", id="true"),
        pytest.param(False, "not_a_number", id="false"),
        pytest.param("-0.1", "not_a_number", id="text"),
        pytest.param(None, "not_a_number", id="null"),
        pytest.param(math.nan, "not_finite", id="NaN"),
        pytest.param(math.inf, "not_finite", id="infinity"),
        pytest.param(-math.inf, "not_finite", id="minus infinity"),
        pytest.param(-(10**400), "not_finite", id="beyond all floats"),
        pytest.param(10**400, "above_zero", id="huge"),
        pytest.param(0.001, "above_zero", id="above zero"),
        pytest.param(0.98, "above_zero", id="a probability"),
    ],
)
def test_one_wrong_figure_fails_all_of_it(wrong: Any, reason: str) -> None:
    """Nothing is left out and nothing is guessed: the signal fails and says where."""
    signal = token_probability([-0.1, wrong, -0.2])
    assert signal.state is SignalState.FAILED
    assert signal.reason == reason
    assert signal.detail == {"tokens": 3, "at": 1}


def test_without_tokens_there_is_nothing_to_measure() -> None:
    """No log-probability is no evidence of anything."""
    assert token_probability([]).reason == "no_tokens"


anything = st.one_of(
    st.floats(), st.integers(), st.booleans(), st.none(), st.text(max_size=3), st.just(-(10**320))
)
logs = st.lists(st.floats(max_value=0.0, allow_nan=False, allow_infinity=False), min_size=1)


@given(st.lists(anything, max_size=8))
def test_whatever_is_given_the_value_is_in_the_unit_interval(given: list[Any]) -> None:
    """Any list gives a number in [0, 1], a failure, or nothing to measure; never an error."""
    signal = token_probability(given)
    assert signal.value is None or 0.0 <= signal.value <= 1.0


@given(logs, st.randoms(use_true_random=False))
@example([-sys.float_info.max] * 3, random.Random(0))
def test_the_order_of_tokens_does_not_matter(tokens: list[float], order: Any) -> None:
    """Shuffling the tokens changes nothing."""
    shuffled = list(tokens)
    order.shuffle(shuffled)
    assert token_probability(shuffled) == token_probability(tokens)


@given(logs, st.data())
def test_a_less_likely_token_never_raises_the_value(
    tokens: list[float], data: st.DataObject
) -> None:
    """Making one token less likely never makes the output more probable."""
    index = data.draw(st.integers(0, len(tokens) - 1))
    lower = data.draw(st.floats(-1e6, 0.0))
    changed = [one + lower if i == index else one for i, one in enumerate(tokens)]
    before, after = token_probability(tokens).value, token_probability(changed).value
    assert before is not None
    if after is not None:  # it may have left the floats
        assert after <= before
