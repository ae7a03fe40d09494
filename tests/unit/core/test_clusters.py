"""The group of similar cases that is worse than its slice: found if planted, else not made up."""

from __future__ import annotations

import numpy as np
import pytest

from sureline.core.learning.clusters import FEWEST, worst_cluster
from sureline.core.statistics.binomial import lower_bound, upper_bound


def unit(rows: np.ndarray) -> np.ndarray:
    """Scale rows to unit length, as stored vectors are."""
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def scattered(
    draw: np.random.Generator, sizes: list[int], *, spread: float = 0.5, dimension: int = 32
) -> tuple[np.ndarray, np.ndarray]:
    """Make cases about some topics, in no order, on top of what all of them share."""
    topics = unit(draw.normal(size=(len(sizes), dimension))) + 1.0 / np.sqrt(dimension)
    topic = draw.permutation(np.repeat(np.arange(len(sizes)), sizes))
    noise = draw.normal(size=(len(topic), dimension)) / np.sqrt(dimension)
    return unit(topics[topic] + spread * noise), topic


@pytest.mark.parametrize("spread", [0.2, 0.5, 0.8])
def test_a_planted_cluster_is_found(spread: float) -> None:
    """Forty of four hundred cases, right in .35 against .92, are found in 29 of 30 draws."""
    found = 0
    for seed in range(30):
        draw = np.random.default_rng(seed)
        vectors, topic = scattered(draw, [40, 120, 120, 120], spread=spread)
        correct = draw.random(400) < np.where(topic == 0, 0.35, 0.92)
        worst = worst_cluster(vectors, correct).worst
        found += worst is not None and bool(np.mean(topic[worst.rows] == 0) > 0.8)
    assert found >= 29


@pytest.mark.parametrize("rate", [0.5, 0.8, 0.95])
def test_nothing_is_found_where_all_are_alike(rate: float) -> None:
    """False alarms stay at or below 5 % over 200 seeds, however good the slice is."""
    alarms = 0
    for seed in range(200):
        draw = np.random.default_rng(1_000 + seed)
        vectors, topic = scattered(draw, [60, 60, 60, 60, 60])
        alarms += worst_cluster(vectors, draw.random(len(topic)) < rate).worst is not None
    assert alarms <= 10


def test_it_says_the_same_twice() -> None:
    """The draw is pinned: the same cases give the same group with the same figures."""
    draw = np.random.default_rng(5)
    vectors, topic = scattered(draw, [50, 150, 150])
    correct = draw.random(350) < np.where(topic == 0, 0.3, 0.9)
    one, other = (worst_cluster(vectors, correct) for _ in range(2))
    assert one.worst is not None
    assert other.worst is not None
    assert one.worst.rows.tolist() == other.worst.rows.tolist()
    assert (one.groups, one.worst.right, one.worst.low, one.worst.high) == (
        other.groups,
        other.worst.right,
        other.worst.low,
        other.worst.high,
    )


def test_the_figures_are_those_of_the_group() -> None:
    """Its counts are its rows' labels, and its exact interval is corrected for all groups."""
    draw = np.random.default_rng(6)
    vectors, topic = scattered(draw, [50, 150, 150], spread=0.2)
    correct = draw.random(350) < np.where(topic == 0, 0.3, 0.9)
    found = worst_cluster(vectors, correct)
    worst = found.worst
    assert worst is not None
    assert worst.right.whole == len(worst.rows) == len(set(worst.rows.tolist())) == 50
    assert worst.right.part == correct[worst.rows].sum()
    level = 0.025 / found.groups
    assert worst.high == pytest.approx(upper_bound(worst.right.part, 50, level))
    assert worst.low == pytest.approx(lower_bound(worst.right.part, 50, level))
    assert worst.high < correct.mean() == found.right.value


def test_the_nearest_to_the_centre_come_first() -> None:
    """Rows are in the order of their distance from the group's mean."""
    draw = np.random.default_rng(7)
    vectors, topic = scattered(draw, [60, 200])
    worst = worst_cluster(vectors, topic == 1).worst
    assert worst is not None
    members = vectors[worst.rows]
    distance = np.linalg.norm(members - members.mean(axis=0), axis=1)
    assert (np.diff(distance) >= -1e-6).all()


@pytest.mark.parametrize("cases", [0, 1, 2 * FEWEST - 1])
def test_of_too_few_cases_nothing_is_said(cases: int) -> None:
    """No group is compared, and none is worst."""
    vectors = unit(np.random.default_rng(8).normal(size=(cases, 8))) if cases else np.zeros((0, 8))
    found = worst_cluster(vectors.astype(np.float32), np.zeros(cases, bool))
    assert (found.groups, found.worst, found.right.whole) == (0, None, cases)


@pytest.mark.parametrize("right", [True, False])
def test_where_all_labels_agree_no_group_is_worse(right: bool) -> None:
    """A slice that is always right, or never, has no worst part."""
    vectors, topic = scattered(np.random.default_rng(9), [60, 60])
    assert worst_cluster(vectors, np.full(len(topic), right)).worst is None


def test_copies_of_one_text_are_no_group() -> None:
    """Where all vectors are the same there is nothing to divide."""
    vectors = np.tile(unit(np.ones((1, 8))), (100, 1))
    found = worst_cluster(vectors, np.arange(100) % 2 == 0)
    assert (found.groups, found.worst) == (0, None)
