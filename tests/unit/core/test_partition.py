"""The grid of bands that the proof needs."""

from __future__ import annotations

import numpy as np
import pytest

from sureline.core.statistics.partition import band_ends, loosest_band


def test_distinct_scores_end_a_band_at_every_anchor() -> None:
    """Without ties the bands have 59 labels and about 1 % more each, up to all labels."""
    sizes = band_ends(np.arange(1, 1001), 59) + 1
    assert (sizes[0], sizes[-1]) == (59, 1000)
    growth = sizes[1:] / sizes[:-1]
    assert growth.max() < 1.02
    assert np.all(np.diff(sizes) >= 1)


@pytest.mark.parametrize("n", [0, 1, 58])
def test_too_few_labels_have_no_band(n: int) -> None:
    """Fewer labels than the smallest provable band are never tested."""
    assert len(band_ends(np.arange(1, n + 1), 59)) == 0
    assert loosest_band(np.arange(1, n + 1), np.arange(1, n + 1), 0.95, 0.05) is None


def test_no_band_is_smaller_than_what_can_be_proven() -> None:
    """A tie that skips the first anchors does not bring in a band below the smallest."""
    labels = np.array([30, 90, 91, 200])
    assert labels[band_ends(labels, 59)].tolist() == [90, 91, 200]


def test_a_band_does_not_depend_on_how_labels_lie_above_it() -> None:
    """Whether a score ends a band is settled by the counts from that score down: the proof."""
    random = np.random.default_rng(5)
    for _ in range(200):
        below = 300 + np.cumsum(random.integers(1, 60, 20))
        lower = np.append(300, below)
        ends = []
        for _ in range(3):
            above = np.sort(random.choice(np.arange(1, 300), random.integers(1, 40), False))
            labels = np.append(above, lower)
            sizes = labels[band_ends(labels, 59)]
            ends.append(sizes[sizes >= 300].tolist())
        assert ends[0] == ends[1] == ends[2]


@pytest.mark.parametrize("share", [0.4, 0.45])
def test_ties_across_the_target_keep_delta(share: float) -> None:
    """Where one tied score carries the precision below target, errors stay within delta."""
    random = np.random.default_rng(11)
    runs, wrong = 1000, 0
    for _ in range(runs):
        top = random.binomial(200, share)
        labels = np.array([top, 200])
        right = (
            random.binomial(top, 0.97),
            random.binomial(200 - top, (0.949 - share * 0.97) / (1 - share)),
        )
        end = loosest_band(labels, np.cumsum(right), 0.95, 0.05)
        wrong += end == 1
    assert wrong / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5
