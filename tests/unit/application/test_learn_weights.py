"""Weights are learned from the labels that are set apart for fitting."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from sureline.application.learn_weights import WeightLearner
from sureline.core.statistics.weights import LearnedWeights
from sureline.core.values.policy import SlicePolicy
from sureline.core.values.proposal import Proposal
from sureline.core.values.signal import Signal, SignalKind
from sureline.errors import InvalidInput, UnknownSlice
from sureline.gate import Gate
from sureline.testing import temporary_gate

POLICY = """
version: 1
slices:
  a: {weights: {luck: 0.5, skill: 0.5}, output: {structured: false}, target_precision: 0.9}
  b: {weights: {luck: 1.0}, output: {structured: false}}
"""


class Part:
    """Reads its value from the task: luck,skill."""

    kind = SignalKind.OBJECTIVE

    def __init__(self, name: str, place: int) -> None:
        self.name, self.place = name, place

    async def measure(self, proposal: Proposal, policy: SlicePolicy) -> Signal:
        return Signal.measured(self.name, self.kind, float(proposal.task.split(",")[self.place]))


@pytest.fixture
def gate() -> Iterator[Gate]:
    with temporary_gate(POLICY, signals=[Part("luck", 0), Part("skill", 1)]) as opened:
        yield opened


def learn(gate: Gate, slice_key: str = "a") -> LearnedWeights:
    services = gate.services
    learner = WeightLearner(
        ledger=services.ledger,
        policies=services.policies,
        secret=services.decider.secret,
        workspace=services.workspace,
    )
    return gate.run(learner.learn(slice_key))


def work(gate: Gate, count: int) -> None:
    """Decide about outputs that are right when skill is high, and label them."""
    dice = random.Random(4)
    for number in range(count):
        skill = dice.random()
        gate.decide_sync(
            slice_key="a", task=f"{dice.random():.3f},{skill:.3f}", output="x", id=f"d{number}"
        )
        right = dice.random() < 0.2 + 0.8 * skill
        gate.run(gate.record_outcome(f"d{number}", action="approve" if right else "reject", by="k"))


def test_skill_outweighs_luck(gate: Gate) -> None:
    """About three tenths of the labels are for fitting, and they teach what counts."""
    work(gate, 300)
    found = learn(gate)
    assert 60 < found.n < 120
    assert found.learned is not None
    weights = dict(zip(found.names, found.learned.weights, strict=True))
    assert weights["skill"] > 0.7
    assert learn(gate) == found


def test_without_labels_the_reason_is_said(gate: Gate) -> None:
    """Nothing is learned from nothing."""
    found = learn(gate)
    assert (found.n, found.learned, found.use) == (0, None, False)


def test_one_signal_has_no_weight_to_learn(gate: Gate) -> None:
    """Whatever its weight, the mean is the same."""
    with pytest.raises(InvalidInput, match="nothing to learn"):
        learn(gate, "b")
    with pytest.raises(UnknownSlice, match="there is: a, b"):
        learn(gate, "c")
