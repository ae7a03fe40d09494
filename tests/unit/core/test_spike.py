"""A look alarms where a rate has moved, and by chance no more often than is allowed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, fisher_exact

from sureline.core.statistics.spike import LEAST_PART, LOOKS_A_YEAR, Alertness, Rate, began, spike
from sureline.errors import InvalidInput

LOUD = Alertness(alpha=0.05, looks=1, least_change=0.0)


def rate(part: int, whole: int) -> Rate:
    return Rate(part=part, whole=whole)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.3, 0.7])
@pytest.mark.parametrize(("m", "n"), [(40, 10), (100, 25), (30, 30)])
@pytest.mark.parametrize("falls_too", [False, True])
def test_a_constant_rate_alarms_at_most_as_often_as_allowed(
    share: float, m: int, n: int, falls_too: bool
) -> None:
    """Summed over every outcome of both windows, exactly and not by simulation."""
    alarmed = 0.0
    for before in range(m + 1):
        weight = binom.pmf(before, m, share)
        if weight < 1e-6:
            continue
        for now in range(n + 1):
            if spike(rate(before, m), rate(now, n), LOUD, falls_too=falls_too).alarm:
                alarmed += weight * binom.pmf(now, n, share)
    assert alarmed <= LOUD.allowed


@given(before=st.integers(0, 40), now=st.integers(0, 15))
def test_the_tail_is_that_of_fishers_exact_test(before: int, now: int) -> None:
    """The p-value is the one that scipy's test of the two-by-two table gives."""
    found = spike(rate(before, 40), rate(now, 15), LOUD, falls_too=True)
    if found.rose and now < LEAST_PART:
        assert not found.alarm
        return
    side = "greater" if found.rose else "less"
    table = [[now, 15 - now], [before, 40 - before]]
    assert found.p_value == pytest.approx(fisher_exact(table, alternative=side)[1])


@pytest.mark.parametrize(("asks", "seen"), [(60, 0.75), (100, 0.97)])
def test_a_jump_from_2_to_20_percent_is_seen_within_100_asks(asks: int, seen: float) -> None:
    """Even where a tenth of a false alarm a year is shared by four series and hourly looks."""
    chance = np.random.default_rng(20261130)
    alertness = Alertness(alpha=0.1, series=4)
    alarms = [
        spike(
            rate(int(chance.binomial(28 * asks, 0.02)), 28 * asks),
            rate(int(chance.binomial(asks, 0.2)), asks),
            alertness,
        ).alarm
        for _ in range(200)
    ]
    assert np.mean(alarms) >= seen


@pytest.mark.parametrize("series", [4, 40])
def test_an_outage_is_seen_within_a_handful_of_asks(series: int) -> None:
    """Where 2 % failed before, six failures in a row are enough."""
    found = spike(rate(20, 1_000), rate(6, 6), Alertness(series=series))
    assert found.alarm
    assert found.rose


@pytest.mark.parametrize(
    ("before", "now", "falls_too", "alarm"),
    [
        pytest.param(rate(0, 0), rate(50, 50), False, False, id="no past"),
        pytest.param(rate(5, 100), rate(0, 0), True, False, id="nothing now"),
        pytest.param(rate(400, 1_000), rate(0, 100), False, False, id="a fall of failures"),
        pytest.param(rate(400, 1_000), rate(0, 100), True, True, id="a judge falls silent"),
        pytest.param(rate(0, 2_000), rate(4, 4), False, False, id="a hiccup"),
        pytest.param(rate(0, 2_000), rate(5, 5), False, True, id="an outage"),
        pytest.param(rate(10_000, 10**6), rate(13_000, 10**6), False, False, id="too small"),
    ],
)
def test_what_alarms(before: Rate, now: Rate, falls_too: bool, alarm: bool) -> None:
    """It takes both windows, the right direction, and a change that matters."""
    assert spike(before, now, Alertness(), falls_too=falls_too).alarm is alarm


def test_all_looks_of_a_year_share_the_allowed() -> None:
    """What one look of one series may spend adds up to alpha."""
    alertness = Alertness(alpha=0.1, series=7)
    assert alertness.allowed * 7 * LOOKS_A_YEAR == pytest.approx(0.1)


@pytest.mark.parametrize("change", range(1, 30))
def test_the_day_on_which_it_began_is_found(change: int) -> None:
    """A rate that jumps from 2 to 50 % is dated to its first day."""
    days = [rate(2, 100)] * change + [rate(50, 100)] * (30 - change)
    assert began(days, rate(56, 2_800), rate(50, 100)) == change


@given(st.lists(st.integers(0, 5), min_size=1, max_size=40))
def test_some_day_is_always_named(parts: list[int]) -> None:
    """Whatever happened, the place is one of the days."""
    days = [rate(part, 5) for part in parts]
    assert 0 <= began(days, rate(1, 50), rate(9, 10)) < len(days)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Alertness(alpha=0.0),
        lambda: Alertness(alpha=math.nan),
        lambda: Alertness(series=0),
        lambda: Alertness(least_change=2.0),
        lambda: rate(3, 2),
        lambda: rate(-1, 2),
    ],
)
def test_what_makes_no_sense_is_refused(wrong: object) -> None:
    """Levels and counts out of range are errors."""
    with pytest.raises(InvalidInput):
        wrong()  # type: ignore[operator]
