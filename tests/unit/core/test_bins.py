"""Score bins: floors on the logit scale."""

from __future__ import annotations

import math
from timeit import timeit

import numpy as np
import pytest

from sureline.core.statistics.bins import (
    BINS,
    LIMIT,
    WIDTH,
    bins_of,
    edge,
    edges_of,
    score_bin,
    score_of,
    scores_of,
)
from sureline.errors import InvalidInput


@pytest.mark.parametrize(
    ("score", "expected"),
    [
        pytest.param(0.0, 0, id="zero"),
        pytest.param(1e-300, 0, id="tiny"),
        pytest.param(0.5, 5000, id="half"),
        pytest.param(1.0, 10_000, id="one"),
        pytest.param(1 - 1e-9, 10_000, id="beyond-the-limit"),
        pytest.param(math.nextafter(0.5, 0), 4999, id="just-under-half"),
    ],
)
def test_a_score_falls_into_the_bin_of_its_logit(score: float, expected: int) -> None:
    """A score's bin is the floor of its logit in steps of .0025, ends open."""
    assert score_bin(score) == expected


def test_a_threshold_on_bins_is_the_same_threshold_on_scores() -> None:
    """`score >= edge(b)` holds exactly where the score's bin is at least b."""
    for b in range(1, BINS):
        assert score_bin(edge(b)) == b
        assert score_bin(math.nextafter(edge(b), 0)) == b - 1
    assert edge(0) == 0.0


def test_edges_are_the_logistic_of_the_scale() -> None:
    """Edges follow the formula, and rise strictly."""
    edges = edges_of(np.arange(BINS))
    logits = -LIMIT + WIDTH * np.arange(1, BINS)
    assert np.allclose(edges[1:], 1 / (1 + np.exp(-logits)), rtol=1e-12)
    assert np.all(np.diff(edges) > 0)


def test_a_bin_is_represented_by_a_score_inside_it() -> None:
    """The representative of every bin falls into that bin; 0 and 1 stand for the open ends."""
    assert [score_bin(score_of(b)) for b in range(BINS)] == list(range(BINS))
    assert (score_of(0), score_of(BINS - 1)) == (0.0, 1.0)
    assert np.array_equal(scores_of([0, 7, 10_000]), [score_of(b) for b in (0, 7, 10_000)])


def test_vectors_agree_with_scalars() -> None:
    """Many scores at once get the same bins as one by one."""
    scores = np.random.default_rng(1).beta(6, 0.3, 2000)
    assert bins_of(scores).tolist() == [score_bin(s) for s in scores]


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, -0.001, 1.0000001])
def test_what_is_no_score_has_no_bin(score: float) -> None:
    """NaN, infinity and anything outside 0 to 1 are refused, one by one and in bulk."""
    with pytest.raises(InvalidInput, match="0 to 1"):
        score_bin(score)
    with pytest.raises(InvalidInput, match="row 2"):
        bins_of([0.5, score])


@pytest.mark.parametrize("number", [-1, BINS])
def test_there_are_no_other_bins(number: int) -> None:
    """A bin outside the scale is refused."""
    with pytest.raises(InvalidInput, match="10000"):
        edge(number)
    with pytest.raises(InvalidInput, match="10000"):
        score_of(number)


def test_binning_a_score_is_cheap() -> None:
    """One score takes microseconds at most, for it is done at every decision."""
    assert timeit(lambda: score_bin(0.9731), number=20_000) / 20_000 < 10e-6
