"""Log-probabilities that come with a proposal, through a gate."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sureline.application.intake import read_proposal
from sureline.application.opinions.token_probability import TokenProbability
from sureline.core.values.decision import Decision, Route
from sureline.core.values.signal import Signal, SignalState
from sureline.testing import temporary_gate
from tests.builders import slice_policy

POLICY = """\
version: 1
slices:
  notes:
    mode: route
    audit_rate: 0
    weights: {WEIGHTS}
    hypothesis: {auto: 0.85, allow_uncertified: true, starts: 2026-01-05}
"""
WEIGHTED = POLICY.replace("WEIGHTS", "verification: 1, token_probability: 0.5")
UNWEIGHTED = POLICY.replace("WEIGHTS", "verification: 1")


def decide(policy: str, **fields: Any) -> tuple[Decision, dict[str, Signal]]:
    with temporary_gate(policy) as gate:
        decision = gate.decide_sync(slice_key="notes", task="t", output={"a": 1}, **fields)
    return decision, {one.name: one for one in decision.signals}


def test_they_are_recorded_without_a_weight_and_change_nothing() -> None:
    """As the self-report is."""
    decision, signals = decide(UNWEIGHTED, logprobs=[-3.0])
    assert signals["token_probability"].value == pytest.approx(math.exp(-3))
    assert decision.composite == 1.0
    assert decision.route is Route.AUTO_APPROVE


def test_with_a_weight_they_count() -> None:
    """Two thirds of 1 and a third of one half."""
    decision, _ = decide(WEIGHTED, logprobs=[math.log(0.5)])
    assert decision.composite == pytest.approx(5 / 6)


@pytest.mark.parametrize(
    ("logprobs", "why"),
    [
        pytest.param(None, "not_given", id="none given"),
        pytest.param([], "not_given", id="an empty list"),
        pytest.param([-0.1, float("nan")], "not_finite", id="NaN"),
        pytest.param([-0.1, float("-inf")], "not_finite", id="infinite"),
        pytest.param([-0.1, 0.9], "above_zero", id="a probability among them"),
    ],
)
def test_with_a_weight_and_without_a_value_a_person_decides(logprobs: Any, why: str) -> None:
    """A missing or broken signal never helps, and never breaks the decision either."""
    decision, _ = decide(WEIGHTED, logprobs=logprobs)
    assert decision.route is Route.HUMAN_REQUIRED
    message = next(one.message for one in decision.reasons if one.code == "signal_missing")
    assert why in message


async def test_what_no_trusted_caller_vouches_for_is_a_claim() -> None:
    """An agent cannot make itself certain."""
    raw = {"slice_key": "notes", "task": "t", "output": 1, "logprobs": [0.0]}
    signal = await TokenProbability().measure(read_proposal(raw, trusted=False), slice_policy())
    assert (signal.state, signal.reason) == (SignalState.NOT_APPLICABLE, "claimed")
