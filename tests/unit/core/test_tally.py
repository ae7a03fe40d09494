"""Counting labels by distinct score."""

from __future__ import annotations

import numpy as np
import pytest

from sureline.core.statistics.bins import bins_of, edge
from sureline.core.statistics.tally import tally_counts, tally_labels
from sureline.errors import InvalidInput


def test_labels_are_counted_from_the_best_score_down() -> None:
    """Entries are distinct scores, best first, with cumulative counts."""
    tally = tally_labels([0.2, 0.9, 0.9, 0.5], [0, 1, 0, 1])
    assert tally.threshold.tolist() == [0.9, 0.5, 0.2]
    assert tally.labels.tolist() == [2, 3, 4]
    assert tally.correct.tolist() == [1, 2, 2]
    assert tally.n == 4
    assert [part.tolist() for part in tally.counts] == [[2, 1, 1], [1, 1, 0]]


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [(1.0, (0, 0)), (0.9, (2, 1)), (0.7, (2, 1)), (0.5, (3, 2)), (0.0, (4, 2))],
)
def test_a_band_is_what_its_threshold_selects(threshold: float, expected: tuple[int, int]) -> None:
    """A band counts exactly the labels at or above its threshold."""
    assert tally_labels([0.2, 0.9, 0.9, 0.5], [0, 1, 0, 1]).band(threshold) == expected


def test_no_labels_are_a_tally_too() -> None:
    """An empty table counts nothing."""
    assert tally_labels([], []).n == 0
    assert tally_counts([], [], []).n == 0


def test_counts_equal_the_labels_they_count() -> None:
    """A count table gives the tally of its binned labels, thresholds at the bins' edges."""
    random = np.random.default_rng(4)
    scores = random.beta(6, 1, 500)
    labels = random.random(500) < scores
    bins = bins_of(scores)
    table = {}
    for b, y in zip(bins.tolist(), labels.tolist(), strict=True):
        table[b, y] = table.get((b, y), 0) + 1
    rows = [(b, y, count) for (b, y), count in table.items()]
    counted = tally_counts(*zip(*rows, strict=True))
    raw = tally_labels([edge(b) for b in bins.tolist()], labels)
    assert np.array_equal(counted.threshold, raw.threshold)
    assert np.array_equal(counted.labels, raw.labels)
    assert np.array_equal(counted.correct, raw.correct)


def test_rows_of_one_bin_add_up() -> None:
    """Streams of counts merge by concatenation."""
    merged = tally_counts([7, 7, 7], [True, True, False], [2, 3, 1])
    assert (merged.labels.tolist(), merged.correct.tolist()) == ([6], [5])


def test_the_hash_names_the_labels_not_their_order() -> None:
    """The data hash ignores row order and changes with any label."""
    scores, labels = [0.1, 0.5, 0.9], [0, 1, 1]
    first = tally_labels(scores, labels).data_hash
    assert tally_labels(scores[::-1], labels[::-1]).data_hash == first
    assert tally_labels(scores, [1, 1, 1]).data_hash != first
    assert tally_labels([0.1, 0.5, 0.91], labels).data_hash != first


@pytest.mark.parametrize(
    ("scores", "labels", "message"),
    [
        pytest.param([0.5, float("nan")], [1, 1], "row 2.*nan", id="C26-nan"),
        pytest.param([float("inf")], [1], "row 1.*inf", id="C26-inf"),
        pytest.param([0.5, 1.7], [1, 1], "row 2.*1.7", id="C26-above-one"),
        pytest.param([-1.0], [1], "row 1.*-1", id="C26-negative"),
        pytest.param([0.5, None], [1, 1], "row 2.*None", id="nothing"),
        pytest.param(["0.5"], [1], "row 1.*'0.5'", id="text"),
        pytest.param([0.5, 0.5], [1, 2], "row 2.*0 or 1", id="label-two"),
        pytest.param([0.5], [0.5], "row 1.*0 or 1", id="label-half"),
        pytest.param([0.5], [float("nan")], "row 1.*0 or 1", id="label-nan"),
        pytest.param([0.5], ["yes"], "row 1.*0 or 1", id="label-text"),
        pytest.param([0.5, 0.6], [1], "2 scores but 1 labels", id="lengths"),
        pytest.param([[0.5]], [1], "dimensions", id="table"),
    ],
)
def test_what_is_no_label_is_refused(scores: list, labels: list, message: str) -> None:
    """Nothing but scores from 0 to 1 and labels 0 or 1 is counted; the row is named."""
    with pytest.raises(InvalidInput, match=message):
        tally_labels(scores, labels)


@pytest.mark.parametrize(
    ("bins", "correct", "counts", "message"),
    [
        pytest.param([1, 10_001], [1, 1], [1, 1], "score_bin: row 2", id="bin-beyond"),
        pytest.param([-1], [1], [1], "score_bin: row 1", id="bin-negative"),
        pytest.param([0.5], [1], [1], "whole", id="bin-fraction"),
        pytest.param([1], [1], [-2], "count: row 1", id="count-negative"),
        pytest.param([1], [2], [1], "label: row 1", id="label"),
        pytest.param([1, 2], [1, 1], [1], "equally many", id="lengths"),
    ],
)
def test_what_is_no_count_is_refused(bins: list, correct: list, counts: list, message: str) -> None:
    """A faulty row of a count table is named."""
    with pytest.raises(InvalidInput, match=message):
        tally_counts(bins, correct, counts)


def test_zero_has_no_sign() -> None:
    """Minus zero is the score zero, not one of its own."""
    tally = tally_labels([-0.0, 0.0, 1.0, 5e-324], [1, 0, 1, 1])
    assert tally.threshold.tolist() == [1.0, 5e-324, 0.0]
    assert (tally.labels.tolist(), tally.correct.tolist()) == ([1, 2, 4], [1, 2, 3])
