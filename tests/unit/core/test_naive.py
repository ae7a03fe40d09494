"""The naive rules, kept to compare with."""

from __future__ import annotations

import numpy as np
import pytest

from sureline.core.statistics.naive import NaiveRule, largest_band, running_precision
from sureline.core.statistics.tally import tally_labels

SCORES = [0.9, 0.8, 0.7, 0.6, 0.5]


@pytest.mark.parametrize(
    ("labels", "running", "largest"),
    [
        pytest.param([1, 1, 1, 1, 1], 0.5, 0.5, id="all-correct"),
        pytest.param([1, 1, 0, 1, 1], 0.8, 0.5, id="recovers"),
        pytest.param([0, 1, 1, 1, 1], None, 0.5, id="wrong-at-the-top"),
        pytest.param([0, 0, 0, 0, 0], None, None, id="all-wrong"),
    ],
)
def test_naive_rules_look_at_observed_precision_only(
    labels: list, running: float | None, largest: float | None
) -> None:
    """One stops where the precision first falls below target, one takes the largest band."""
    tally = tally_labels(SCORES, labels)
    assert running_precision(tally, 0.8).threshold == running
    assert largest_band(tally, 0.8).threshold == largest


def test_a_naive_threshold_is_labelled_as_such() -> None:
    """Each result names its rule and what it saw; it is not a certificate."""
    found = running_precision(tally_labels(SCORES, [1, 1, 0, 0, 0]), 0.95)
    assert found.rule is NaiveRule.RUNNING_PRECISION
    assert (found.in_band, found.correct, found.coverage, found.precision) == (2, 2, 0.4, 1.0)
    assert not hasattr(found, "lower_bound")


def test_ties_are_one_block_for_naive_rules_too() -> None:
    """C03: no band ends inside a tie, so the result ignores row order."""
    tally = tally_labels(np.full(100, 0.9), np.arange(100) < 60)
    assert running_precision(tally, 0.95).threshold is None


def test_no_labels_give_no_naive_threshold() -> None:
    """Without labels there is nothing to guess from."""
    empty = tally_labels([], [])
    assert running_precision(empty, 0.9).threshold is None
    assert largest_band(empty, 0.9).threshold is None
