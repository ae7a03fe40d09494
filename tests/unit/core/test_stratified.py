"""A share from labels drawn at several known rates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta

from sureline.core.statistics.stratified import Stratum, binomial_interval, stratified_share


def stratum(size: int, labels: int, correct: int) -> Stratum:
    return Stratum(size=size, labels=labels, correct=correct)


def test_one_stratum_is_plain_clopper_pearson() -> None:
    """47 of 50 right: the interval of the textbook."""
    found = stratified_share([stratum(50, 50, 47)])
    assert found.estimate == pytest.approx(0.94)
    assert found.interval == pytest.approx((beta.ppf(0.025, 47, 4), beta.ppf(0.975, 48, 3)))
    assert found.extremes == pytest.approx((0.94, 0.94))


def test_labels_stand_for_their_own_stratum_only() -> None:
    """900 audited at a tenth and 100 all reviewed: the few labels of the many weigh more."""
    found = stratified_share([stratum(900, 90, 90), stratum(100, 100, 50)])
    assert found.estimate == pytest.approx(0.95)
    assert found.effective == pytest.approx(1 / (0.81 / 90 + 0.01 / 100))


def test_an_item_without_a_label_is_not_counted_as_correct() -> None:
    """500 unreviewed and 50 reviewed, 40 of them right: .8 and not .98 (case C09)."""
    found = stratified_share([stratum(500, 0, 0), stratum(50, 50, 40)])
    assert found.estimate == pytest.approx(0.8)
    assert found.unrepresented == 500
    assert found.interval[0] < 0.08
    assert found.interval[1] > 0.97
    assert found.extremes == pytest.approx((40 / 550, 540 / 550))


@pytest.mark.parametrize("strata", [[], [stratum(7, 0, 0)]], ids=["nothing", "no-labels"])
def test_without_labels_everything_is_possible(strata: list[Stratum]) -> None:
    """No estimate is made up."""
    found = stratified_share(strata)
    assert (found.estimate, found.interval) == (None, (0.0, 1.0))


@pytest.mark.parametrize(("share", "expected"), [(0.0, 0.0), (1.0, 1.0)])
def test_an_interval_ends_where_shares_end(share: float, expected: float) -> None:
    """All right or all wrong: one end is certain not to be passed."""
    assert expected in binomial_interval(share, 20)


def test_the_interval_covers() -> None:
    """With 5 % of the good and all of the bad labelled, it holds the truth 95 % of the time."""
    draw = np.random.default_rng(5)
    covered = naive = 0
    for _ in range(1000):
        correct = draw.random(2000) < np.where(np.arange(2000) < 1600, 0.97, 0.7)
        rate = np.where(np.arange(2000) < 1600, 0.05, 1.0)
        seen = draw.random(2000) < rate
        low, high = stratified_share(
            [
                stratum(
                    int(part.sum()), int((part & seen).sum()), int((part & seen & correct).sum())
                )
                for part in (rate < 1, rate == 1)
            ]
        ).interval
        truth = float(correct.mean())
        covered += low <= truth <= high
        low, high = binomial_interval(float(correct[seen].mean()), float(seen.sum()))
        naive += low <= truth <= high
    assert covered >= 940
    assert naive == 0
