"""The interval on a difference of two shares."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.statistics.comparison import (
    Pairs,
    independent_difference,
    labels_to_see,
    paired_difference,
)

COUNT = st.integers(0, 500)


def test_independent_shares_agree_with_the_paper() -> None:
    """56 of 70 against 48 of 80: .2, from .0524 to .3339 (Newcombe 1998, example a)."""
    found = independent_difference(48 / 80, 80, 56 / 70, 70)
    assert found.value == pytest.approx(0.2)
    assert found.interval == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert found.shows == 1


def test_agreeing_pairs_narrow_the_interval() -> None:
    """The same shares say more when they are of the same items."""
    paired = paired_difference(Pairs(both=80, only_a=2, only_b=10, neither=8))
    apart = independent_difference(0.82, 100, 0.90, 100)
    assert paired.value == pytest.approx(0.08)
    assert paired.shows == 1
    assert apart.shows == 0


@given(both=COUNT, only_a=COUNT, only_b=COUNT, neither=COUNT)
def test_turning_the_sides_around_turns_the_interval(
    both: int, only_a: int, only_b: int, neither: int
) -> None:
    """Comparing a with b is comparing b with a, mirrored; it stays within -1 and 1."""
    found = paired_difference(Pairs(both=both, only_a=only_a, only_b=only_b, neither=neither))
    turned = paired_difference(Pairs(both=both, only_a=only_b, only_b=only_a, neither=neither))
    assert found.interval == pytest.approx((-turned.interval[1], -turned.interval[0]))
    assert -1 - 1e-9 <= found.interval[0] <= (found.value or 0) <= found.interval[1] <= 1 + 1e-9


@pytest.mark.parametrize("paired", [True, False])
def test_without_labels_nothing_is_shown(paired: bool) -> None:
    """No difference is made up."""
    none = Pairs(both=0, only_a=0, only_b=0, neither=0)
    found = paired_difference(none) if paired else independent_difference(None, 0, 0.9, 10)
    assert (found.value, found.interval, found.shows) == (None, (-1.0, 1.0), 0)


@pytest.mark.parametrize("paired", [True, False])
def test_the_interval_covers(paired: bool) -> None:
    """It holds the true difference about 95 times in 100, near 1 too."""
    draw = np.random.default_rng(11)
    n, runs, covered = 80, 2000, 0
    for _ in range(runs):
        hard = draw.random(n) < 0.2
        a = draw.random(n) < np.where(hard, 0.5, 0.98)
        b = draw.random(n) < np.where(hard, 0.8, 0.98)
        if paired:
            cells = [(a & b).sum(), (a & ~b).sum(), (~a & b).sum(), (~a & ~b).sum()]
            names = ("both", "only_a", "only_b", "neither")
            found = paired_difference(Pairs(**dict(zip(names, map(float, cells), strict=True))))
        else:
            found = independent_difference(a.mean(), n, draw.permutation(b).mean(), n)
        covered += found.interval[0] <= 0.06 <= found.interval[1]
    assert 0.94 * runs <= covered


def test_a_smaller_difference_takes_more_labels() -> None:
    """Three points near .9 take about 1,570 labels a side."""
    assert labels_to_see(0.9, 0.03) == pytest.approx(1570, abs=10)
    assert labels_to_see(0.9, 0.06) < labels_to_see(0.9, 0.03) / 3
