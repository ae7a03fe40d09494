"""The calibration map: rising, never certain, the same for the same labels, readable again."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sureline.core.canonical import canonical_json
from sureline.core.statistics.bins import bins_of
from sureline.core.statistics.calibration import (
    CalibrationMap,
    MappedScore,
    Unfitted,
    fit_calibration,
    fit_tally,
)
from sureline.core.statistics.map_json import map_from_json, map_to_json
from sureline.core.statistics.platt import fit_platt
from sureline.core.statistics.tally import tally_counts, tally_labels
from sureline.errors import InvalidInput

GRID = np.linspace(0, 1, 301)

labelled = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 30), st.integers(0, 30)), min_size=1)


def fitted(rows: list[tuple[float, int, int]]) -> CalibrationMap | Unfitted:
    """Fit to rows of (score, correct, wrong)."""
    scores = [s for s, right, wrong in rows for _ in range(right + wrong)]
    labels = [i < right for _, right, wrong in rows for i in range(right + wrong)]
    return fit_tally(tally_labels(scores, labels))


def overconfident(n: int, seed: int = 1) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    random = np.random.default_rng(seed)
    scores = random.beta(6, 1, n)
    return scores, random.random(n) < scores**2


@settings(max_examples=60, deadline=None)
@given(labelled)
def test_a_map_rises_and_is_never_certain(rows: list[tuple[float, int, int]]) -> None:
    """Whatever the labels, a map never falls and stays strictly between 0 and 1."""
    found = fitted(rows)
    if isinstance(found, Unfitted):
        assert found.reason
        return
    values = found(GRID)
    assert (np.diff(values) >= -1e-12).all()
    assert ((values > 0) & (values < 1)).all()


@settings(max_examples=40, deadline=None)
@given(labelled, st.randoms(use_true_random=False))
def test_the_order_of_labels_does_not_matter(rows: list[tuple[float, int, int]], mix) -> None:
    """The same labels in another order give the same bytes, and those read back to the same map."""
    first = canonical_json(map_to_json(fitted(rows)))
    shuffled = list(rows)
    mix.shuffle(shuffled)
    assert canonical_json(map_to_json(fitted(shuffled))) == first
    again = map_from_json(json.loads(first))
    assert canonical_json(map_to_json(again)) == first
    if isinstance(again, CalibrationMap):
        original = fitted(rows)
        assert isinstance(original, CalibrationMap)
        assert (again(GRID) == original(GRID)).all()


def test_c16_outside_the_fitted_range_the_value_is_held_and_marked() -> None:
    """C16: .99 beyond the highest fitted score gets the end's value, marked; NaN gets none."""
    found = fitted([(0.3, 0, 1), (0.4, 0, 1), (0.5, 1, 0), (0.7, 1, 0)])
    assert isinstance(found, CalibrationMap)
    assert found.at(0.99) == MappedScore(value=float(found(0.7)), extrapolated=True)
    assert found.at(0.1) == MappedScore(value=float(found(0.3)), extrapolated=True)
    inside = found.at(0.6)
    assert inside is not None
    assert not inside.extrapolated
    assert found.at(math.nan) is None
    assert found.at(None) is None


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf, -0.1, 1.7])
def test_what_is_no_score_never_enters(score: float) -> None:
    """Neither fitting nor mapping takes NaN, infinities or anything else outside [0, 1]."""
    found = fitted([(0.3, 1, 4), (0.7, 4, 1)])
    assert isinstance(found, CalibrationMap)
    with pytest.raises(InvalidInput, match="from 0 to 1"):
        found([0.5, score])
    with pytest.raises(InvalidInput, match="from 0 to 1"):
        fit_calibration([0.5, score], [1, 1], [2, 2])


@pytest.mark.parametrize(
    ("right", "wrong", "kind"), [(40, 0, "wrong"), (40, 1, "wrong"), (0, 40, "correct")]
)
def test_c17_labels_of_one_kind_are_refused(right: int, wrong: int, kind: str) -> None:
    """C17: with no more than one label of a kind there is no map, and the reason says so."""
    assert fitted([(0.9, right, wrong)]) == Unfitted(
        reason=f"fewer than 2 {kind} labels", n=right + wrong
    )


def test_no_labels_give_no_map() -> None:
    """An empty slice is refused like one of a single kind."""
    assert isinstance(fit_tally(tally_labels([], [])), Unfitted)


@pytest.mark.parametrize(
    ("scores", "correct", "labels"),
    [
        pytest.param([0.5, 0.4], [1, 1], [2, 2], id="falling"),
        pytest.param([0.5, 0.5], [1, 1], [2, 2], id="tied"),
        pytest.param([0.5, 0.6], [1, 3], [2, 2], id="more-correct-than-labels"),
        pytest.param([0.5, 0.6], [1, 0], [2, 0], id="no-label"),
        pytest.param([0.5, 0.6], [1], [2, 2], id="lengths"),
    ],
)
def test_counts_that_are_none_are_refused(scores: list, correct: list, labels: list) -> None:
    """Only counts at rising scores are fitted."""
    with pytest.raises(InvalidInput):
        fit_calibration(scores, correct, labels)


def test_a_flat_curve_is_found_where_nearly_all_are_correct() -> None:
    """Newton's method ends at the flat curve, whose level is the share correct."""
    random = np.random.default_rng(5)
    for accuracy in (0.949, 0.97, 0.995):
        scores, labels = np.sort(random.random(2000)), random.random(2000) < accuracy
        chances = fit_platt(scores, labels, np.ones(2000))(GRID)
        assert abs(chances[150:].mean() - labels.mean()) < 0.02


def test_a_falling_relation_becomes_flat() -> None:
    """Where higher scores are right less often, the map is level rather than falling."""
    found = fitted([(0.2, 90, 10), (0.9, 50, 50)])
    assert isinstance(found, CalibrationMap)
    assert np.ptp(found(GRID)) < 0.01


def test_calibrating_brings_scores_close_to_the_truth() -> None:
    """Over-confident scores are within .0025 mean squared error of the truth at 400 labels."""
    found = fit_tally(tally_labels(*overconfident(400)))
    assert isinstance(found, CalibrationMap)
    scores, _ = overconfident(4000, seed=2)
    assert ((found(scores) - scores**2) ** 2).mean() < 0.0025 < ((scores - scores**2) ** 2).mean()


def test_counts_by_bin_are_enough() -> None:
    """The curves from the count table are those from the labels, but for a bin's width.

    Their blend may differ a little more, because ties deal other folds.
    """
    scores, labels = overconfident(1000)
    rough = fit_tally(tally_counts(bins_of(scores), labels, np.ones(1000, np.int64)))
    exact = fit_tally(tally_labels(scores, labels))
    assert isinstance(rough, CalibrationMap)
    assert isinstance(exact, CalibrationMap)
    for found, wanted, within in (
        (rough.platt, exact.platt, 1e-4),
        (rough.isotonic, exact.isotonic, 2e-3),
        (rough, exact, 1e-2),
    ):
        assert np.abs(found(GRID) - wanted(GRID)).mean() < within


DAMAGES = {
    "kind": {"kind": "spline"},
    "no-platt": {"platt": None},
    "nan": {"low": math.nan},
    "range": {"low": 0.9, "high": 0.1},
    "share": {"isotonic_share": 1.5},
    "falling": {"isotonic": {"knots": [0.1, 0.2], "levels": [0.5, 0.4]}},
    "certain": {"isotonic": {"knots": [0.1, 0.2], "levels": [0.5, 1.0]}},
    "unordered": {"isotonic": {"knots": [0.2, 0.1], "levels": [0.4, 0.5]}},
    "empty": {"isotonic": {"knots": [], "levels": []}},
    "slope": {"platt": {"intercept": 0.0, "slope": -1.0}},
    "word": {"platt": {"intercept": "0", "slope": 1.0}},
    "count": {"n": 1.5},
    "negative": {"n": -1},
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_map_is_refused(damage: dict) -> None:
    """A stored map that is not whole is an error; it never decides anything."""
    entry = map_to_json(fitted([(0.3, 1, 4), (0.7, 4, 1)]))
    with pytest.raises(InvalidInput, match="not a calibration map"):
        map_from_json({**entry, **damage})
    del entry["isotonic"]
    with pytest.raises(InvalidInput, match="not a calibration map"):
        map_from_json(entry)
