"""The reliability table, the curves and ranks."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest

from sureline.core.statistics.bins import bins_of
from sureline.core.statistics.curves import histogram, risk_coverage
from sureline.core.statistics.rank import quantile_rank
from sureline.core.statistics.reliability import Calibrated, reliability
from sureline.core.statistics.tally import tally_counts, tally_labels
from sureline.errors import InvalidInput


def test_c11_the_top_bucket_includes_one() -> None:
    """C11: always wrong at confidence 1.0 is a calibration error of 1 and overconfident."""
    for tally in (
        tally_labels(np.ones(50), np.zeros(50)),
        tally_counts([10_000], [False], [50]),
    ):
        table = reliability(tally)
        assert table.ece == 1.0
        assert table.brier == 1.0
        assert table.buckets[-1].n == 50
        assert table.buckets[-1].verdict is Calibrated.OVERCONFIDENT


def test_c15_a_score_is_the_chance_of_being_correct() -> None:
    """C15: scores of .1 of which one in ten is correct have no gap."""
    table = reliability(tally_labels([0.1] * 10, [0] * 9 + [1]))
    bucket = table.buckets[1]
    assert (bucket.predicted, bucket.actual, bucket.gap) == (0.1, 0.1, 0.0)
    assert bucket.verdict is Calibrated.WELL_CALIBRATED
    assert table.ece == 0.0


@pytest.mark.parametrize(
    ("n", "right", "verdict"),
    [
        pytest.param(9, 0, Calibrated.TOO_FEW, id="too-few"),
        pytest.param(100, 60, Calibrated.OVERCONFIDENT, id="overconfident"),
        pytest.param(100, 86, Calibrated.WELL_CALIBRATED, id="well-calibrated"),
        pytest.param(100, 99, Calibrated.UNDERCONFIDENT, id="underconfident"),
    ],
)
def test_a_bucket_has_a_verdict(n: int, right: int, verdict: Calibrated) -> None:
    """The mean score against the interval of the share correct decides."""
    bucket = reliability(tally_labels(np.full(n, 0.85), np.arange(n) < right)).buckets[8]
    assert bucket.verdict is verdict
    assert bucket.interval is not None
    assert bucket.interval[0] <= right / n <= bucket.interval[1]
    assert math.isclose(bucket.gap or 0.0, 0.85 - right / n)


@pytest.mark.parametrize("score", [math.nan, 1.0001, -0.1])
def test_a_score_out_of_range_is_an_error(score: float) -> None:
    """No score is dropped from a reliability table: one out of range never gets in."""
    with pytest.raises(InvalidInput):
        reliability(tally_labels([0.5, score], [1, 1]))


def test_figures_over_all_labels() -> None:
    """ECE weighs gaps by labels, Brier is the mean squared error, the gap is signed."""
    table = reliability(tally_labels([0.9, 0.9, 0.2, 0.2], [1, 0, 0, 0]))
    assert math.isclose(table.ece or 0, (2 * 0.4 + 2 * 0.2) / 4)
    assert math.isclose(table.brier or 0, (0.01 + 0.81 + 0.04 + 0.04) / 4)
    assert math.isclose(table.gap or 0, 0.55 - 0.25)
    assert sum(bucket.n for bucket in table.buckets) == table.n == 4


def test_without_labels_nothing_is_known() -> None:
    """An empty table has no figures, not zeros."""
    table = reliability(tally_labels([], []))
    assert (table.n, table.ece, table.brier, table.gap) == (0, None, None, None)
    assert {bucket.verdict for bucket in table.buckets} == {Calibrated.TOO_FEW}
    assert {bucket.actual for bucket in table.buckets} == {None}


def test_counts_give_nearly_the_figures_of_raw_labels() -> None:
    """Quantising scores moves ECE and Brier by less than a thousandth."""
    random = np.random.default_rng(2)
    scores = random.beta(5, 1, 4000)
    right = random.random(4000) < scores
    raw = reliability(tally_labels(scores, right))
    counted = reliability(tally_counts(bins_of(scores), right, np.ones(4000, int)))
    assert abs((raw.brier or 0) - (counted.brier or 0)) < 1e-3
    assert abs((raw.ece or 0) - (counted.ece or 0)) < 1e-3


def test_there_is_at_least_one_bucket() -> None:
    """No buckets, parts or points are refused."""
    tally = tally_labels([0.5], [1])
    for call in (
        lambda: reliability(tally, buckets=0),
        lambda: histogram([0.5], [1], parts=0),
        lambda: risk_coverage(tally, points=1),
    ):
        with pytest.raises(InvalidInput):
            call()


def test_the_curve_runs_from_strict_to_loose() -> None:
    """Coverage rises to 1 as the threshold falls, and precision is the observed one."""
    tally = tally_labels([0.9, 0.8, 0.8, 0.1], [1, 1, 0, 0])
    points = risk_coverage(tally)
    assert [(p.threshold, p.coverage, p.precision) for p in points] == [
        (0.9, 0.25, 1.0),
        (0.8, 0.75, 2 / 3),
        (0.1, 1.0, 0.5),
    ]
    assert risk_coverage(tally_labels([], [])) == ()


def test_a_long_curve_is_thinned() -> None:
    """A curve has at most the points asked for, the last at coverage 1."""
    points = risk_coverage(tally_labels(np.linspace(0, 1, 5000), np.ones(5000)), points=50)
    assert len(points) <= 50
    assert points[-1].coverage == 1.0


def test_a_histogram_counts_every_score() -> None:
    """The last part includes 1.0, and the median is one of the scores."""
    found = histogram([1.0, 0.0, 0.5, 0.95], [2, 1, 1, 1])
    assert (found.counts[0], found.counts[10], found.counts[-1]) == (1, 1, 3)
    assert (sum(found.counts), found.n, found.median) == (5, 5, 0.95)
    assert histogram([], []).median is None


@pytest.mark.parametrize(
    ("scores", "counts", "median"),
    [([0.1, 0.9], [1, 1], 0.1), ([0.1, 0.9], [1, 2], 0.9), ([0.3], [7], 0.3)],
)
def test_the_median_is_the_lower_one(scores: list, counts: list, median: float) -> None:
    """With an even number of scores the lower of the middle two is taken."""
    assert histogram(scores, counts).median == median


@pytest.mark.parametrize("n", range(5, 201))
def test_c28_quantile_ranks_are_exact(n: int) -> None:
    """C28: the rank is ceil((n + 1)(1 - alpha)) in whole numbers, for every n and level."""
    for percent in (1, 5, 10, 20, 25, 50):
        expected = -(-(n + 1) * (100 - percent) // 100)
        assert quantile_rank(n, Decimal(percent) / 100) == (expected if expected <= n else None)
        assert quantile_rank(n, percent / 100) == (expected if expected <= n else None)


def test_c28_nineteen_scores_have_their_largest_as_95_percent_quantile() -> None:
    """C28: n = 19 and alpha = .05 give rank 19, not 20."""
    assert quantile_rank(19, 0.05) == 19
    assert quantile_rank(18, 0.05) is None


@pytest.mark.parametrize(("n", "alpha"), [(-1, 0.1), (10, 0.0), (10, 1.0)])
def test_ranks_need_a_level_inside_0_and_1(n: int, alpha: float) -> None:
    """A negative n or an alpha of 0 or 1 is refused."""
    with pytest.raises(InvalidInput):
        quantile_rank(n, alpha)
