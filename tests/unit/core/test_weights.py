"""Weights are learned from labels, and used only when they earn it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from sureline.core.statistics.weights import LearnedWeights, fit_weights, learn_weights
from sureline.errors import InvalidInput

NAMES = ("good", "noise")


def made(n: int, seed: int = 1) -> tuple[Any, Any]:
    """Make labels of which one signal knows something and the other nothing."""
    draw = np.random.default_rng(seed)
    y = draw.random(n) < 0.8
    good = expit(1.5 * np.where(y, 1, -1) + draw.normal(0.5, 1, n))
    return np.stack([good, draw.random(n)], axis=1), y


def learn(x: Any, y: Any, **keys: Any) -> LearnedWeights:
    return learn_weights(
        x,
        y,
        keys.pop("folds", np.arange(len(y)) % 5),
        names=NAMES,
        policy_weights=keys.pop("policy_weights", (1, 1)),
        target=keys.pop("target", 0.9),
        **keys,
    )


def test_the_signal_that_knows_gets_the_weight() -> None:
    """Noise loses its half; more is automated, and it says so with the figures."""
    found = learn(*made(600))
    assert found.learned is not None
    assert found.fixed.weights == (0.5, 0.5)
    assert found.learned.weights[0] > 0.9
    assert sum(found.learned.weights) == pytest.approx(1, abs=1e-3)
    assert found.learned.log_loss < found.fixed.log_loss
    assert found.learned.coverage > found.fixed.coverage
    assert found.use
    assert "held-out coverage" in found.reason


@pytest.mark.parametrize("names", [("self_report", "weaker"), ("weaker", "self_report")])
def test_a_self_report_never_gets_the_largest_weight(names: tuple[str, str]) -> None:
    """However much the generator's own word knows, a policy may not follow it most (G4)."""
    x, y = made(600)
    x[:, 1] = expit(0.7 * np.where(y, 1, -1) + np.random.default_rng(2).normal(0.5, 1, len(y)))
    ordered = x if names[0] == "self_report" else x[:, ::-1]
    found = learn_weights(
        ordered, y, np.arange(len(y)) % 5, names=names, policy_weights=(1, 1), target=0.9
    )
    assert found.learned is not None
    weights = dict(zip(names, found.learned.weights, strict=True))
    assert 0.45 < weights["self_report"] < weights["weaker"]


def test_good_weights_are_kept() -> None:
    """Where the policy is right already, learning changes nothing worth a new certificate."""
    found = learn(*made(600), policy_weights=(1, 0))
    assert not found.use
    assert "kept back" in found.reason


def test_few_labels_stay_near_the_policy() -> None:
    """The ridge holds: twelve labels move the weights less than a thousand do."""
    x, y = made(1000)
    few = fit_weights(x[:12], y[:12], np.array([0.5, 0.5]))
    many = fit_weights(x, y, np.array([0.5, 0.5]))
    assert few is not None
    assert many is not None
    assert abs(few[0] - 0.5) < abs(many[0] - 0.5)


def test_a_signal_that_is_not_measured_adds_nothing() -> None:
    """A judge that was seldom asked is learned from where it spoke."""
    x, y = made(600)
    x[np.random.default_rng(2).random(600) > 0.3, 0] = np.nan
    found = learn(x, y)
    assert found.learned is not None
    assert found.learned.weights[0] > 0.8


def test_labels_of_map_and_threshold_are_not_looked_at() -> None:
    """A negative fold could say anything: the result is the same to the byte."""
    x, y = made(600)
    folds = np.where(np.arange(600) < 90, np.arange(600) % 5, -1)
    first = learn(x, y, folds=folds, target=0.97)
    x[90:], y[90:] = 0.0, ~y[90:]
    assert learn(x, y, folds=folds, target=0.97) == first
    assert first.n == 90


def test_the_same_labels_give_the_same_weights() -> None:
    """Nothing is drawn at random."""
    assert learn(*made(600)) == learn(*made(600))


@given(seed=st.integers(0, 10_000), n=st.integers(1, 80), wrong=st.floats(0, 1))
@settings(max_examples=60, deadline=None)
def test_weights_are_sound_whatever_the_labels(seed: int, n: int, wrong: float) -> None:
    """Weights are >= 0 and sum to 1, or there are none and the reason is said."""
    draw = np.random.default_rng(seed)
    x, y = draw.random((n, 2)), draw.random(n) >= wrong
    x[draw.random((n, 2)) < 0.2] = np.nan
    found = learn(x, y, target=0.97)
    assert found.reason
    if found.learned is None:
        assert not found.use
        return
    assert min(found.learned.weights) >= 0
    assert sum(found.learned.weights) == pytest.approx(1, abs=1e-3)
    assert np.isfinite([found.learned.log_loss, found.fixed.log_loss]).all()


@pytest.mark.parametrize(
    ("y", "folds", "reason"),
    [
        pytest.param(np.ones(50), np.arange(50) % 5, "wrong labels", id="all-correct"),
        pytest.param(np.zeros(50), np.arange(50) % 5, "correct labels", id="all-wrong"),
        pytest.param(np.arange(50) % 2, np.zeros(50, int), "one fold", id="one-fold"),
        pytest.param(np.arange(50) % 2, np.full(50, -1), "one fold", id="nothing-to-look-at"),
    ],
)
def test_what_cannot_be_learned_keeps_the_policy(y: Any, folds: Any, reason: str) -> None:
    """One kind of label teaches nothing (case C17)."""
    found = learn(np.full((50, 2), 0.5), y, folds=folds)
    assert (found.learned, found.use) == (None, False)
    assert reason in found.reason


def test_signals_that_mislead_are_given_no_weight() -> None:
    """A signal that is high where outputs are wrong gets 0, never a negative weight."""
    x, y = made(600)
    found = learn(1 - x, y)
    assert found.learned is None or found.learned.weights[0] == 0


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        pytest.param({"policy_weights": (0, 0)}, "policy_weights", id="all-zero"),
        pytest.param({"policy_weights": (-0.3, 1.3)}, "policy_weights", id="negative"),
        pytest.param({"policy_weights": (float("nan"), 1)}, "policy_weights", id="nan"),
        pytest.param({"policy_weights": (1, 1, 1)}, "policy_weights", id="too-many"),
        pytest.param({"x": np.full((4, 2), 1.5)}, "signals", id="out-of-range"),
        pytest.param({"x": np.full((4, 3), 0.5)}, "signals", id="shape"),
        pytest.param({"folds": np.full(4, 0.5)}, "signals", id="folds"),
        pytest.param({"y": np.array([0, 1, 2, 1])}, "label", id="label"),
        pytest.param({"target": 1.0}, "target", id="target"),
    ],
)
def test_bad_input_is_refused(changes: dict[str, Any], field: str) -> None:
    """The field is named (case C25)."""
    given = {"x": np.full((4, 2), 0.5), "y": np.array([0, 1, 0, 1]), **changes}
    with pytest.raises(InvalidInput, match=field):
        learn(given.pop("x"), given.pop("y"), **given)
