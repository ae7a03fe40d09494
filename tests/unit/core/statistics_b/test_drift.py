"""Drift of scores and of missing signals, the stability index, and the gap of a band."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from timeit import timeit

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import fisher_exact, ks_2samp

from sureline.core.statistics.bins import BINS, bins_of
from sureline.core.statistics.drift import (
    ScoreWindow,
    Vigilance,
    drift_note,
    missing_drift,
    score_drift,
    score_window,
)
from sureline.core.statistics.drift_gap import band_gap
from sureline.core.statistics.drift_index import population_stability, score_stability
from sureline.core.statistics.reliability import Calibrated
from sureline.core.statistics.tally import tally_labels
from sureline.errors import InvalidInput

FIRST = Vigilance(week=1)
NOTHING = score_window([], [])


def window(logits: np.ndarray) -> ScoreWindow:
    bins = bins_of(expit(logits))
    return score_window(bins, np.ones_like(bins))


def normal(n: int, shift: float = 0.0, seed: int = 1) -> ScoreWindow:
    return window(np.random.default_rng(seed).normal(2 + shift, 1, n))


def test_all_weeks_together_spend_alpha() -> None:
    """What the weeks may spend adds up to alpha, however many there are."""
    spent = sum(Vigilance(week=w, alpha=0.05).allowed for w in range(1, 5000))
    assert 0.0499 < spent < 0.05
    assert Vigilance(week=3, series=5).allowed == pytest.approx(Vigilance(week=3).allowed / 5)


def test_the_test_is_kolmogorov_and_smirnovs() -> None:
    """Distance and p-value are those of the two-sample test on the same bins."""
    draw = np.random.default_rng(2)
    one, other = (bins_of(expit(draw.normal(m, 1, n))) for m, n in ((1.8, 400), (2, 900)))
    drift = score_drift(
        score_window(other, np.ones_like(other)), score_window(one, np.ones_like(one)), FIRST
    )
    expected = ks_2samp(one, other, method="asymp")
    assert drift.effect == pytest.approx(float(expected.statistic))
    assert drift.p_value == pytest.approx(float(expected.pvalue), rel=0.15)


def test_case_c21_significance_alone_is_no_alarm() -> None:
    """C21: a shift of .01 sd among a million is significant and alarms nobody; .2 sd does."""
    reference, tiny = normal(1_000_000, seed=3), normal(1_000_000, 0.01, seed=4)
    drift = score_drift(reference, tiny, FIRST)
    assert drift.significant
    assert not drift.alarm
    assert drift.effect < 0.01
    large = score_drift(reference, normal(1_000_000, -0.2, seed=5), FIRST)
    assert large.alarm
    assert not large.rose


def test_an_effect_without_significance_is_no_alarm() -> None:
    """Twenty scores may look quite different by chance."""
    drift = score_drift(normal(2000), normal(20, 0.3, seed=9), FIRST)
    assert drift.effect >= FIRST.least_effect
    assert not drift.alarm


def test_a_shift_of_a_fifth_is_seen_within_two_weeks() -> None:
    """A logit shift of .2 at 500 a week alarms in week 1 or 2 in most of 40 trials."""
    reference, seen = normal(5000, seed=6), 0
    for trial in range(40):
        weeks = [normal(500, -0.2, seed=100 + 2 * trial + w) for w in range(2)]
        seen += any(
            score_drift(reference, now, Vigilance(week=w + 1)).alarm for w, now in enumerate(weeks)
        )
    assert seen >= 30


def test_null_years_rarely_alarm() -> None:
    """Among 60 years without drift, at most a handful alarm."""
    draw = np.random.default_rng(7)
    shares = np.bincount(bins_of(expit(draw.normal(2, 1, 50_000))), minlength=BINS) / 50_000
    alarms = 0
    for _ in range(60):
        reference = ScoreWindow(counts=draw.multinomial(5000, shares))
        alarms += any(
            score_drift(
                reference, ScoreWindow(counts=draw.multinomial(300, shares)), Vigilance(week=w)
            ).alarm
            for w in range(1, 53)
        )
    assert alarms <= 7


@pytest.mark.parametrize(
    ("reference", "now"),
    [(NOTHING, NOTHING), (normal(50), NOTHING), (NOTHING, normal(50))],
    ids=["nothing", "nothing-now", "nothing-before"],
)
def test_nothing_is_said_about_nothing(reference: ScoreWindow, now: ScoreWindow) -> None:
    """Without scores in either window there is no effect, no alarm and no index."""
    drift = score_drift(reference, now, FIRST)
    assert (drift.alarm, drift.effect, drift.p_value) == (False, None, 1.0)
    assert score_stability(reference, now) is None


def test_case_c23_a_signal_that_goes_missing_alarms() -> None:
    """C23: the judge missing in 90 % instead of 1 % alarms, though present scores are as ever."""
    scores = np.arange(4000, 7000, 3)
    before = score_window(scores, np.full_like(scores, 9), unmeasured=91)
    now = score_window(scores, np.full_like(scores, 1), unmeasured=9000)
    same = score_drift(before, now, FIRST)
    assert not same.alarm
    assert same.coverage_now == pytest.approx(0.1)
    gone = missing_drift((91, 9091), (9000, 10_000), FIRST)
    assert gone.alarm
    assert gone.rose
    assert (round(gone.before, 3), gone.now) == (0.01, 0.9)
    assert gone.coverage_now == pytest.approx(0.1)


@pytest.mark.parametrize(
    ("before", "now"), [((3, 200), (9, 100)), ((0, 50), (4, 50)), ((40, 400), (2, 80))]
)
def test_missing_rates_are_compared_exactly(before: tuple, now: tuple) -> None:
    """The p-value is twice the smaller tail of Fisher's exact test, at most 1."""
    table = [[now[0], now[1] - now[0]], [before[0], before[1] - before[0]]]
    tails = [fisher_exact(table, alternative=side).pvalue for side in ("less", "greater")]
    drift = missing_drift(before, now, FIRST)
    assert drift.p_value == pytest.approx(min(1, 2 * min(tails)))


@pytest.mark.parametrize(
    ("before", "now", "alarm"),
    [
        ((0, 0), (5, 5), False),
        ((0, 0), (0, 0), False),
        ((10_000, 1_000_000), (13_000, 1_000_000), False),
        ((900, 1000), (10, 1000), True),
    ],
    ids=["no-reference", "nothing", "tiny-change", "came-back"],
)
def test_missing_rates_have_the_same_discipline(before: tuple, now: tuple, alarm: bool) -> None:
    """An alarm needs both windows, significance and an effect, in either direction."""
    assert missing_drift(before, now, FIRST).alarm is alarm


def test_case_c22_an_empty_group_gives_a_finite_index() -> None:
    """C22: with half a count added to each group the index is finite and can be written as JSON."""
    index = population_stability([10, 90, 0], [10, 85, 5])
    assert 0 < index < 1
    assert json.loads(json.dumps(index, allow_nan=False)) == index


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)), min_size=1, max_size=12))
def test_the_index_is_finite_and_not_negative(groups: list[tuple[int, int]]) -> None:
    """Whatever the counts, the index is None or a finite number >= 0, the same both ways."""
    one, other = zip(*groups, strict=True)
    index = population_stability(one, other)
    assert index is None or (math.isfinite(index) and index >= 0)
    assert index == pytest.approx(population_stability(other, one))
    assert population_stability(one, one) in (0.0, None)


def test_the_index_over_tenths_sees_a_shift_and_copes_with_ties() -> None:
    """Equal windows have index 0; a shift shows; a window of one tied score is no trouble."""
    assert score_stability(normal(1000), normal(1000)) == 0.0
    assert score_stability(normal(2000), normal(2000, 0.5, seed=8)) > 0.1
    tied = score_window([10_000], [50])
    assert score_stability(tied, tied) == 0.0
    assert score_stability(tied, score_window([0, 10_000], [25, 25])) is not None


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, BINS - 1), st.integers(0, 50)), min_size=1, max_size=30))
def test_drift_is_always_json(rows: list[tuple[int, int]]) -> None:
    """Whatever the counts, every figure of a drift is finite or None."""
    bins, counts = zip(*rows, strict=True)
    now = score_window(bins, counts, unmeasured=3)
    drift = score_drift(normal(200), now, FIRST)
    json.dumps(asdict(drift), allow_nan=False)
    assert score_drift(now, now, FIRST).effect in (0.0, None)


def test_the_cost_does_not_grow_with_decisions() -> None:
    """Comparing windows of 10 million decisions takes as long as of a hundred: milliseconds."""
    large = ScoreWindow(counts=np.full(BINS, 1000))
    assert timeit(lambda: score_drift(large, large, FIRST), number=20) / 20 < 0.02
    rare = (100_000, 10**7), (90_000, 10**7)
    assert timeit(lambda: missing_drift(*rare, FIRST), number=5) / 5 < 0.05


def test_windows_add_up_and_know_their_median() -> None:
    """Rows of a bin add up; the median is a score of the window."""
    some = score_window([5000, 7000, 5000], [2, 1, 3], unmeasured=4)
    assert (some.n, some.coverage, some.median) == (6, 0.6, pytest.approx(0.5, abs=1e-3))
    assert (NOTHING.median, NOTHING.coverage) == (None, None)


@pytest.mark.parametrize(
    ("bins", "counts", "unmeasured"),
    [
        pytest.param([BINS], [1], 0, id="beyond"),
        pytest.param([-1], [1], 0, id="below"),
        pytest.param([1], [-1], 0, id="negative"),
        pytest.param([0.5], [1], 0, id="no-bin"),
        pytest.param([1, 2], [1], 0, id="unequal"),
        pytest.param([1], [1], -1, id="unmeasured"),
    ],
)
def test_impossible_windows_are_refused(bins: list, counts: list, unmeasured: int) -> None:
    """Bins off the scale and counts that cannot be are refused."""
    with pytest.raises(InvalidInput):
        score_window(bins, counts, unmeasured=unmeasured)


@pytest.mark.parametrize(
    "wrong", [{"week": 0}, {"series": 0}, {"alpha": 0.0}, {"alpha": 1.0}, {"least_effect": 1.1}]
)
def test_impossible_vigilance_is_refused(wrong: dict) -> None:
    """Weeks count from 1, and levels are levels."""
    with pytest.raises(InvalidInput, match="drift"):
        Vigilance(**{"week": 1, **wrong})


def test_other_impossible_counts_are_refused() -> None:
    """More missing than decisions, and groups that do not match, are refused."""
    with pytest.raises(InvalidInput, match="missing"):
        missing_drift((3, 2), (0, 1), FIRST)
    with pytest.raises(InvalidInput, match="counts"):
        population_stability([1, 2], [1])
    with pytest.raises(InvalidInput, match="counts"):
        population_stability([1, -2], [1, 1])


def test_the_note_says_seasonal_only_when_it_may() -> None:
    """Without two cycles drift may be seasonal; with them the same phase decides."""
    quiet = score_drift(normal(500), normal(500), FIRST)
    loud = score_drift(normal(5000), normal(5000, -0.5, seed=8), FIRST)
    assert drift_note(quiet, two_cycles=False) == "No drift."
    assert "may be seasonal" in drift_note(loud, two_cycles=False)
    assert "may be seasonal" in drift_note(loud, two_cycles=True)
    assert "too" in drift_note(loud, two_cycles=True, same_phase=loud)
    assert drift_note(loud, two_cycles=True, same_phase=quiet).endswith("seasonal.")


def test_the_gap_of_a_band_has_a_sign_and_an_interval() -> None:
    """Said .97, right .80: overconfident by .17, with the interval of the share turned round."""
    scores = [0.97] * 100 + [0.3] * 50
    tally = tally_labels(scores, [1] * 80 + [0] * 20 + [1] * 50)
    gap = band_gap(tally, 0.9)
    assert (gap.n, gap.verdict) == (100, Calibrated.OVERCONFIDENT)
    assert gap.gap == pytest.approx(0.17)
    assert gap.interval[0] < gap.gap < gap.interval[1]
    assert gap.interval[0] > 0
    low = band_gap(tally, 0.2, values=np.where(tally.score > 0.5, 0.8, 0.1))
    assert low.verdict is Calibrated.UNDERCONFIDENT
    assert band_gap(tally, 0.9, values=tally.score - 0.17).verdict is Calibrated.WELL_CALIBRATED


def test_a_band_without_labels_has_no_gap() -> None:
    """Nothing audited: no number at all; a handful: no verdict; values must match."""
    tally = tally_labels([0.5] * 9, [1] * 9)
    empty = band_gap(tally, 0.9)
    assert (empty.n, empty.gap, empty.interval) == (0, None, None)
    assert band_gap(tally, 0.5).verdict is Calibrated.TOO_FEW
    with pytest.raises(InvalidInput, match="values"):
        band_gap(tally, 0.5, values=[0.1, 0.2])
