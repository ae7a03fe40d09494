"""Exact critical values of the weighted partition test."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binom

from sureline.core.statistics import critical, partition
from sureline.core.statistics.binomial import evidence, smallest_band
from sureline.core.statistics.critical import FAR, NEAR, critical_values
from sureline.core.statistics.partition import band_ends


def statistic(counts: np.ndarray, bands: np.ndarray, i: int, target: float) -> float:
    """Return T_i of one walk, straight from its definition."""
    smallest = smallest_band(target, 0.05)
    own = evidence(counts, bands, target)
    near = own[i] + NEAR * math.log(bands[i] / smallest)
    return max(near, *(own[i:] - FAR * np.log(bands[i:] / bands[i])))


@pytest.mark.parametrize("bands", [(59,), (59, 60), (59, 75, 100)], ids=str)
def test_the_size_is_exact_on_every_walk(bands: tuple[int, ...]) -> None:
    """Over all walks weighed by their probability, no T_i exceeds its value too often."""
    target, delta = 0.95, 0.05
    values = critical_values(bands, target, delta, 59)
    steps = np.diff(bands, prepend=0)
    exceeded = np.zeros(len(bands))
    for errors in itertools.product(*(range(min(s, 13) + 1) for s in steps)):
        weight = math.prod(binom.pmf(e, s, 1 - target) for e, s in zip(errors, steps, strict=True))
        counts = np.asarray(bands) - np.cumsum(errors)
        for i in range(len(bands)):
            exceeded[i] += weight * (statistic(counts, np.asarray(bands), i, target) > values[i])
    assert np.all(exceeded <= delta)
    assert np.all(exceeded > 0.2 * delta)


def test_the_size_holds_for_simulated_walks() -> None:
    """On many bands, simulated walks exceed each critical value in at most delta of cases."""
    target, delta, walks = 0.9, 0.05, 6_000
    ends = band_ends(np.arange(1, 801), smallest_band(target, delta))
    bands = ends + 1
    random = np.random.default_rng(3)
    steps = np.diff(bands, prepend=0)
    counts = np.cumsum(random.binomial(steps, target, (walks, len(bands))), axis=1)
    values = critical_values(tuple(bands.tolist()), target, delta, smallest_band(target, delta))
    own = evidence(counts, bands, target)
    far = np.maximum.accumulate((own - FAR * np.log(bands))[:, ::-1], axis=1)[:, ::-1]
    near = own + NEAR * np.log(bands / smallest_band(target, delta))
    share = np.mean(np.maximum(near, far + FAR * np.log(bands)) > values, axis=0)
    assert share.max() <= delta + 4 * math.sqrt(delta * (1 - delta) / walks)
    assert share.mean() > 0.9 * delta


def test_values_are_computed_once_and_cannot_be_spoilt() -> None:
    """The same bands give the same, read-only array."""
    first = critical_values((59, 80), 0.95, 0.05, 59)
    assert critical_values((59, 80), 0.95, 0.05, 59) is first
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 0.0


@pytest.mark.parametrize("target", [0.01, 0.5, 0.999])
@pytest.mark.parametrize("delta", [1e-6, 0.5, 0.95])
def test_unusual_levels_have_values_too(target: float, delta: float) -> None:
    """Any target and delta between 0 and 1 give a value for every band, or none, never a crash."""
    smallest = smallest_band(target, delta)
    bands = tuple((band_ends(np.arange(1, smallest + 40), smallest) + 1).tolist())
    found = critical_values(bands, target, delta, smallest)
    assert len(found) == len(bands)
    assert not np.isnan(found).any()


def test_both_ways_to_sum_over_a_step_agree() -> None:
    """The Fourier transform of long steps gives the plain sums, far within the margin."""
    random = np.random.default_rng(5)
    mass = binom.pmf(np.arange(200, 500), 7_000, 0.05)
    reached = random.random((900, 7))
    size = len(reached) - len(mass) + 1
    plain = np.stack([mass @ reached[s : s + len(mass)] for s in range(size)])
    assert np.abs(critical._transformed(reached, mass) - plain).max() < 1e-12
    assert np.abs(critical._summed(reached, mass, size) - plain).max() < 1e-12


def test_ten_million_labels_have_a_grid_of_under_a_thousand_bands() -> None:
    """Certifying does not take longer in proportion to the labels; the grid ends at all of them."""
    ends = band_ends(np.arange(1, 11) * 1_000_000, 59)
    assert ends[-1] == 9
    anchors = partition._anchors(59, 10_000_000)
    assert len(anchors) < 1_000
    assert anchors[-1] == 10_000_000
    assert np.all(np.diff(anchors) > 0)
