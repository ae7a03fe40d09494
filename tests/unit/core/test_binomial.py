"""Exact binomial tests, bounds and needed labels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from sureline.core.statistics.binomial import (
    labels_needed,
    lower_bound,
    p_value,
    smallest_band,
    upper_bound,
)
from sureline.core.statistics.outlook import expected_share, outlook
from sureline.errors import InvalidInput


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        (0.90, (29, 46, 61, 76, 103, 167)),
        (0.95, (59, 93, 124, 153, 208, 336)),
        (0.98, (149, 236, 313, 386, 523, 845)),
        (0.99, (299, 473, 628, 773, 1049, 1693)),
    ],
)
def test_the_fewest_labels_are_those_published(target: float, expected: tuple) -> None:
    """Labels needed for 0, 1, 2, 3, 5 and 10 errors match the reference table."""
    assert tuple(labels_needed(e, target, 0.05) for e in (0, 1, 2, 3, 5, 10)) == expected
    assert smallest_band(target, 0.05) == expected[0]


@pytest.mark.parametrize(
    ("target", "delta", "expected"), [(0.5, 0.25, 2), (0.5, 0.125, 3), (0.9, 0.9, 1)]
)
def test_the_smallest_band_is_not_rounded_up_by_noise(
    target: float, delta: float, expected: int
) -> None:
    """Where target**k equals delta exactly, k labels are enough."""
    assert smallest_band(target, delta) == expected


def test_p_values_are_binomial_tails() -> None:
    """The p-value is P(Bin(k, target) >= c), also at none and all correct."""
    correct, labels = np.array([0, 1, 55, 59]), np.array([10, 1, 60, 59])
    assert np.allclose(p_value(correct, labels, 0.95), binom.sf(correct - 1, labels, 0.95))


def test_bounds_invert_the_test() -> None:
    """A lower bound reaches the target exactly where the test passes."""
    correct = np.arange(140, 201)
    labels = np.full_like(correct, 200)
    passes = p_value(correct, labels, 0.9) <= 0.05
    assert np.array_equal(lower_bound(correct, labels, 0.05) >= 0.9, passes)
    assert float(lower_bound(0, 5, 0.05)) == 0.0
    assert float(upper_bound(5, 5, 0.05)) == 1.0
    assert math.isclose(float(upper_bound(0, 5, 0.05)), 1 - 0.05 ** (1 / 5))


@pytest.mark.parametrize("level", [(0.0, 0.05), (1.0, 0.05), (0.9, 0.0), (0.9, math.nan)])
def test_levels_are_strictly_between_0_and_1(level: tuple) -> None:
    """A target or delta at or beyond the ends is refused."""
    with pytest.raises(InvalidInput):
        labels_needed(0, *level)


def test_errors_are_not_negative() -> None:
    """A negative number of errors is refused."""
    with pytest.raises(InvalidInput):
        labels_needed(-1, 0.9, 0.05)


def test_the_outlook_states_labels_and_automation() -> None:
    """A target's outlook lists labels needed, rising shares, and a warning from .99 on."""
    ordinary, high = outlook(0.95, 0.05), outlook(0.99, 0.05)
    assert ordinary.fewest == (59, 93, 124, 153, 181, 208)
    assert [n for n, _ in ordinary.shares] == [200, 500, 1000, 2000, 5000, 20000]
    shares = [share for _, share in ordinary.shares]
    assert shares == sorted(shares)
    assert (ordinary.demanding, high.demanding) == (False, True)
    assert expected_share(59, 0.95, 0.05) == 0.0
    assert expected_share(1000, 0.99, 0.05) < expected_share(1000, 0.95, 0.05)
