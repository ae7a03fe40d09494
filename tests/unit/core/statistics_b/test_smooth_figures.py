"""Smooth calibration error and the Brier score's interval."""

from __future__ import annotations

import numpy as np
import pytest

from sureline.core.statistics.brier_interval import brier_score
from sureline.core.statistics.reliability import brier
from sureline.core.statistics.smooth_ece import smooth_ece
from sureline.core.statistics.tally import Tally, tally_counts, tally_labels


def drawn(n: int, bend: float, seed: int = 1) -> Tally:
    """Draw labels of scores that promise `bend` too much."""
    random = np.random.default_rng(seed)
    scores = random.beta(5, 1.2, n)
    return tally_labels(scores, random.random(n) < np.clip(scores - bend, 0, 1))


@pytest.mark.parametrize("bend", [0.1, 0.3])
def test_a_constant_promise_too_high_is_the_error(bend: float) -> None:
    """Scores that promise .1 or .3 too much have that smooth error, nearly."""
    found = smooth_ece(drawn(20_000, bend))
    assert found is not None
    assert abs(found - bend) < 0.02


def test_an_honest_score_has_a_small_error_that_shrinks() -> None:
    """With more labels the error of a calibrated score goes to 0."""
    few, many = smooth_ece(drawn(200, 0)), smooth_ece(drawn(50_000, 0))
    assert few is not None
    assert many is not None
    assert many < 0.01 < few < 0.1


@pytest.mark.parametrize(
    ("score", "right", "wrong", "error"),
    [
        pytest.param(10_000, 0, 50, 1.0, id="always-wrong-at-1"),
        pytest.param(0, 50, 0, 1.0, id="always-right-at-0"),
        pytest.param(10_000, 50, 0, 0.0, id="always-right-at-1"),
    ],
)
def test_the_ends_are_not_lost(score: int, right: int, wrong: int, error: float) -> None:
    """What lies at exactly 0 or 1 counts in full: the kernel is reflected there."""
    found = smooth_ece(tally_counts([score, score], [1, 0], [right, wrong]))
    assert found is not None
    assert abs(found - error) < 1e-3


def test_it_does_not_jump_at_the_edge_of_a_bucket() -> None:
    """Moving all scores by a hair changes the error by a hair."""
    labels = [1] * 60 + [0] * 40
    below = smooth_ece(tally_labels([0.7 - 1e-6] * 100, labels))
    above = smooth_ece(tally_labels([0.7 + 1e-6] * 100, labels))
    assert below is not None
    assert above is not None
    assert abs(below - above) < 1e-4


def test_the_interval_holds_the_score_and_repeats() -> None:
    """The Brier score lies in its interval, and the same labels give the same interval."""
    tally = drawn(500, 0.1)
    found = brier_score(tally)
    assert found is not None
    assert found.value == pytest.approx(brier(tally))
    assert found.interval[0] < found.value < found.interval[1]
    assert brier_score(drawn(500, 0.1)) == found


def test_the_interval_covers_the_truth() -> None:
    """In about nineteen of twenty samples the interval holds the true Brier score."""
    random = np.random.default_rng(2)
    truth, held = 0.5 * 0.7 * 0.3 + 0.5 * 0.9 * 0.1, 0
    for _ in range(100):
        seventy, ninety = random.multinomial(400, [0.35, 0.15, 0.45, 0.05]).reshape(2, 2)
        scores = np.repeat([0.7, 0.9], [seventy.sum(), ninety.sum()])
        labels = np.repeat([1, 0, 1, 0], [*seventy, *ninety])
        found = brier_score(tally_labels(scores, labels))
        assert found is not None
        held += found.interval[0] <= truth <= found.interval[1]
    assert held >= 88


def test_without_labels_there_is_no_figure() -> None:
    """Nothing is made up."""
    empty = tally_labels([], [])
    assert smooth_ece(empty) is None
    assert brier_score(empty) is None
