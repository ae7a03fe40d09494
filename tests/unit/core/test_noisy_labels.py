"""Precision where those who label miss some of the errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.statistics.attention import Detection
from sureline.core.statistics.binomial import p_value
from sureline.core.statistics.noisy_labels import corrected_precision, demand_under_noise
from sureline.errors import InvalidInput


def test_missed_errors_are_added() -> None:
    """4 % called wrong by people who notice half of the errors are 8 % wrong."""
    found = corrected_precision(96, 100, Detection(caught=20, shown=40))
    assert found.stated == pytest.approx(0.96)
    assert found.corrected == pytest.approx(0.92)
    assert found.interval[0] < 0.92 < found.interval[1]


@pytest.mark.parametrize(
    ("detection", "corrected", "interval"),
    [
        (Detection(caught=0, shown=0), None, (0.0, 1.0)),
        (Detection(caught=0, shown=30), None, None),
        (Detection(caught=30, shown=30), 1.0, None),
    ],
    ids=["none_shown", "none_noticed", "all_noticed"],
)
def test_approving_all_proves_nothing_by_itself(
    detection: Detection, corrected: float | None, interval: tuple[float, float] | None
) -> None:
    """100 approvals of 100 are worth what the planted errors say they are."""
    found = corrected_precision(100, 100, detection)
    assert found.corrected == corrected
    if interval is not None:
        assert found.interval == interval
    elif detection.caught == 0:
        assert found.interval[0] == 0.0
    else:
        assert found.interval[0] > 0.9


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 50), st.integers(0, 50))
def test_intervals_are_ordered(right: int, wrong: int, caught: int, missed: int) -> None:
    """Every end lies in [0, 1], low before high, and the corrected value between."""
    found = corrected_precision(
        right, right + wrong, Detection(caught=caught, shown=caught + missed)
    )
    low, high = found.interval
    assert 0 <= low <= high <= 1
    assert found.corrected is None or low - 1e-9 <= found.corrected <= high + 1e-9


def test_the_interval_covers_the_truth() -> None:
    """Of 2000 samples (precision .9, detection .7) at least 95 % of the intervals hold .9."""
    rng = np.random.default_rng(3)
    hits = 0
    for _ in range(2000):
        called_wrong = int(rng.binomial(300, 0.1 * 0.7))
        caught = int(rng.binomial(40, 0.7))
        found = corrected_precision(300 - called_wrong, 300, Detection(caught=caught, shown=40))
        hits += found.interval[0] <= 0.9 <= found.interval[1]
    assert hits >= 1900


@pytest.mark.parametrize("detects", [0.3, 0.6, 0.9])
def test_a_stricter_demand_keeps_the_guarantee(detects: float) -> None:
    """At a precision just under the target, noisy labels pass in 5 % of runs at most.

    Taken at face value the same labels pass far more often.
    """
    rng = np.random.default_rng(8)
    runs, labels, target, delta = 1000, 400, 0.95, 0.05
    false, at_face = 0, 0
    for _ in range(runs):
        wrong = int(rng.binomial(labels, (1 - 0.9499) * detects))
        detection = Detection(caught=int(rng.binomial(40, detects)), shown=40)
        stricter, rest = demand_under_noise(target, delta, detection)
        false += bool(p_value(labels - wrong, labels, stricter) <= rest)
        at_face += bool(p_value(labels - wrong, labels, target) <= delta)
    assert false <= delta * runs
    assert at_face > 1.5 * delta * runs


def test_without_a_planted_error_noticed_nothing_can_be_shown() -> None:
    """The target is then 1, which no number of labels proves."""
    assert demand_under_noise(0.95, 0.05, Detection(caught=0, shown=20))[0] == 1.0
    assert demand_under_noise(0.95, 0.05, Detection(caught=0, shown=0))[0] == 1.0


def test_impossible_counts_are_refused() -> None:
    """More correct labels than labels are refused."""
    with pytest.raises(InvalidInput, match="0 to 3"):
        corrected_precision(4, 3, Detection(caught=1, shown=1))
