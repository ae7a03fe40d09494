"""What holds for every certificate, whatever the labels (invariants 4 and 7)."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sureline.core.statistics.binomial import lower_bound, p_value
from sureline.core.statistics.bins import bins_of, edge, score_bin
from sureline.core.statistics.certificate import Demand, Provenance, certify
from sureline.core.statistics.tally import Tally, tally_counts, tally_labels
from sureline.core.values.certificate import Certificate, Uncertified
from sureline.errors import InvalidInput

PROVENANCE = Provenance(
    workspace="w",
    policy_hash="p",
    measurement_hash="m",
    issued_at=datetime(2026, 5, 1, tzinfo=UTC),
)


@st.composite
def labelled(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Draw scores, often tied, and labels that are mostly correct at the top."""
    seed = draw(st.integers(0, 2**32 - 1))
    n = draw(st.integers(0, 500))
    grid = draw(st.sampled_from([1, 3, 20, 10**6]))
    base = draw(st.floats(0.5, 1.0))
    random = np.random.default_rng(seed)
    scores = np.round(random.random(n) * grid) / grid
    return scores, random.random(n) < np.minimum(1.0, base + 0.3 * scores)


targets = st.sampled_from([0.5, 0.8, 0.9, 0.95])
deltas = st.sampled_from([0.01, 0.05, 0.2])


def result(tally: Tally, target: float, delta: float = 0.05) -> Certificate | Uncertified:
    """Certify one slice."""
    demand = Demand(target=target, delta=delta)
    return certify(tally, slice_key="s", demand=demand, provenance=PROVENANCE)


@settings(max_examples=60, deadline=None)
@given(labelled(), targets, deltas, st.randoms(use_true_random=False))
def test_a_certificate_meets_its_bound_on_its_own_data_in_any_order(
    data: tuple, target: float, delta: float, order: object
) -> None:
    """Invariant 7: re-applied to its labels, in any order, it selects what it was proven on."""
    scores, right = data
    shuffled = list(range(len(scores)))
    order.shuffle(shuffled)  # type: ignore[attr-defined]
    found = result(tally_labels(scores, right), target, delta)
    assert result(tally_labels(scores[shuffled], right[shuffled]), target, delta) == found
    if isinstance(found, Certificate):
        chosen = scores >= found.threshold
        k, c = int(chosen.sum()), int(right[chosen].sum())
        assert (k, c) == (found.in_band, found.correct)
        assert float(p_value(c, k, target)) <= delta
        assert float(lower_bound(c, k, delta)) >= target - 1e-12
        assert found.threshold in scores


@settings(max_examples=60, deadline=None)
@given(labelled(), targets)
def test_a_binned_certificate_meets_its_bound_on_the_recorded_scores(
    data: tuple, target: float
) -> None:
    """Invariant 7 holds through the count table: scores and their bins are selected alike."""
    scores, right = data
    bins = bins_of(scores)
    found = result(tally_counts(bins, right, np.ones(len(bins), int)), target)
    if isinstance(found, Certificate):
        chosen = scores >= found.threshold
        by_bin = bins >= score_bin(found.threshold)
        assert np.array_equal(chosen, by_bin)
        k, c = int(chosen.sum()), int(right[chosen].sum())
        assert (k, c) == (found.in_band, found.correct)
        assert float(p_value(c, k, target)) <= 0.05


@settings(max_examples=60, deadline=None)
@given(labelled(), targets, st.data())
def test_turning_a_label_wrong_never_loosens(
    data: tuple, target: float, more: st.DataObject
) -> None:
    """With the same scores, a correct label turned wrong never lowers the threshold."""
    scores, right = data
    correct = np.flatnonzero(right)
    if not len(correct):
        return
    before = result(tally_labels(scores, right), target)
    worse = right.copy()
    worse[correct[more.draw(st.integers(0, len(correct) - 1))]] = False
    after = result(tally_labels(scores, worse), target)
    if isinstance(after, Certificate):
        assert isinstance(before, Certificate)
        assert after.threshold >= before.threshold


@settings(max_examples=40, deadline=None)
@given(labelled(), st.sampled_from([float("nan"), float("inf"), -0.1, 1.1]), st.data())
def test_what_is_no_score_never_enters(data: tuple, bad: float, more: st.DataObject) -> None:
    """Invariant 4: one bad score anywhere refuses the whole table, naming the row."""
    scores, right = data
    row = more.draw(st.integers(0, len(scores)))
    with pytest.raises(InvalidInput, match=f"row {row + 1}:"):
        tally_labels(np.insert(scores, row, bad), np.insert(right, row, True))


@settings(max_examples=30, deadline=None)
@given(labelled(), targets)
def test_what_is_missing_is_possible(data: tuple, target: float) -> None:
    """A slice without a certificate has a reason, and a count of missing labels is positive."""
    found = result(tally_labels(*data), target)
    if isinstance(found, Uncertified):
        assert found.labels_missing is None or found.labels_missing > 0
        assert found.best_lower_bound is None or 0 <= found.best_lower_bound < 1
        assert (found.best_threshold is None) == (found.n == 0)


@given(st.floats(0, 1), st.integers(0, 10_000))
def test_bins_and_scores_agree_on_every_threshold(score: float, threshold: int) -> None:
    """A score is at or above a bin's edge exactly where its bin is at or above that bin."""
    assert (score >= edge(threshold)) == (score_bin(score) >= threshold)
