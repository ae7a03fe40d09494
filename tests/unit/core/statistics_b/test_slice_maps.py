"""Slices with few labels: maps around a shared curve, and accuracies that are shrunk."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.special import expit

from sureline.core.canonical import canonical_json
from sureline.core.statistics.calibration import CalibrationMap, Unfitted, fit_tally
from sureline.core.statistics.hierarchical import SliceMap, fit_slices
from sureline.core.statistics.map_json import map_from_json, map_to_json
from sureline.core.statistics.pooling import pooled
from sureline.core.statistics.slice_accuracy import slice_accuracies
from sureline.core.statistics.tally import Tally, tally_labels
from sureline.errors import InvalidInput

GRID = np.linspace(0, 1, 201)
EMPTY = tally_labels([], [])


def chance(scores: np.ndarray, offset: float) -> np.ndarray:
    return expit(offset + 8 * scores - 5.5)


def world(labels: int, slices: int = 12, seed: int = 3) -> tuple[dict[str, Tally], np.ndarray]:
    """Return slices whose accuracies differ, with their offsets."""
    random = np.random.default_rng(seed)
    offsets = random.normal(0.5, 0.6, slices)
    tallies = {}
    for i, offset in enumerate(offsets):
        scores = random.beta(5, 1.2, labels)
        tallies[f"s{i:02}"] = tally_labels(scores, random.random(labels) < chance(scores, offset))
    return tallies, offsets


def test_small_slices_beat_maps_of_their_own() -> None:
    """At 50 labels a slice the shared curve with shrunk offsets has clearly less error."""
    tallies, offsets = world(50)
    maps = fit_slices(tallies)
    scores = np.random.default_rng(9).beta(5, 1.2, 3000)
    ours, alone = [], []
    for (key, tally), offset in zip(tallies.items(), offsets, strict=True):
        truth, found, own = chance(scores, offset), maps[key], fit_tally(tally)
        assert isinstance(found, SliceMap)
        assert isinstance(own, CalibrationMap)
        ours.append(((found(scores) - truth) ** 2).mean())
        alone.append(((own(scores) - truth) ** 2).mean())
    assert np.mean(ours) < 0.7 * np.mean(alone)


def test_a_large_slice_has_a_map_of_its_own() -> None:
    """From 500 labels on a slice is fitted by itself, as if there were no others."""
    tallies, _ = world(50)
    large = world(500, slices=1, seed=8)[0]["s00"]
    found = fit_slices({**tallies, "large": large})["large"]
    assert map_to_json(found) == map_to_json(fit_tally(large))


def test_a_slice_without_labels_gets_the_shared_curve() -> None:
    """Nothing is known about it, so it is neither shifted nor stretched."""
    found = fit_slices({**world(50)[0], "new": EMPTY})["new"]
    assert isinstance(found, SliceMap)
    assert (round(found.offset, 9), round(found.slope, 9), found.n) == (0.0, 1.0, 0)


def test_slice_maps_rise_are_never_certain_and_read_back() -> None:
    """Even a slice that falls has a map that does not; bytes are the same in any order."""
    tallies, _ = world(40)
    tallies["falling"] = tally_labels([0.2] * 40 + [0.95] * 40, [1] * 40 + [0] * 40)
    tallies["perfect"] = tally_labels([0.9] * 30, [1] * 30)
    maps = fit_slices(tallies)
    again = fit_slices(dict(reversed(tallies.items())))
    for key, found in maps.items():
        assert isinstance(found, SliceMap)
        values = found(GRID)
        assert (np.diff(values) >= -1e-12).all()
        assert ((values > 0) & (values < 1)).all()
        stored = canonical_json(map_to_json(found))
        assert canonical_json(map_to_json(again[key])) == stored
        read = map_from_json(json.loads(stored))
        assert isinstance(read, SliceMap)
        assert (read(GRID) == values).all()
        assert read.at(math.nan) is None
        beyond = read.at(0.0)
        assert beyond is not None
        assert beyond.extrapolated == (read.low > 0)


def test_an_only_slice_has_its_own_map() -> None:
    """There is nothing to lean on, so its labels are used once."""
    (tally,) = world(60, slices=1)[0].values()
    assert map_to_json(fit_slices({"only": tally})["only"]) == map_to_json(fit_tally(tally))


def test_labels_of_one_kind_everywhere_are_refused() -> None:
    """Where all slices together have no wrong label, none gets a map, and each says so."""
    maps = fit_slices({"a": tally_labels([0.9] * 40, [1] * 40), "b": EMPTY})
    assert maps == {
        "a": Unfitted(reason="fewer than 2 wrong labels", n=40),
        "b": Unfitted(reason="fewer than 2 wrong labels", n=0),
    }


def test_pooling_adds_up_whatever_the_order() -> None:
    """The pooled labels are those of all slices, ties joined."""
    a, b = tally_labels([0.5, 0.9, 0.9], [0, 1, 1]), tally_labels([0.9, 0.2], [0, 1])
    one, other = pooled([a, b]), pooled([b, EMPTY, a])
    assert one.data_hash == other.data_hash
    assert one.threshold.tolist() == other.threshold.tolist() == [0.9, 0.5, 0.2]
    assert one.labels.tolist() == [3, 4, 5]
    assert one.correct.tolist() == [2, 2, 3]
    assert pooled([]).n == 0


def test_shrunk_accuracies_are_closer_than_raw_and_laplace() -> None:
    """At about 50 labels a slice the root mean squared error is about 3.0 against 4.7 points."""
    random = np.random.default_rng(4)
    errors: dict[str, list[float]] = {"ours": [], "raw": [], "laplace": []}
    for _ in range(60):
        truth, n = random.beta(79, 12, 20), np.maximum(5, random.poisson(50, 20))
        right = random.binomial(n, truth)
        found = slice_accuracies(
            {f"{i:02}": (int(n[i]), int(right[i])) for i in range(len(n))}
        ).slices
        ours = np.array([one.accuracy for one in found])
        errors["ours"] += ((ours - truth) ** 2).tolist()
        errors["raw"] += ((right / n - truth) ** 2).tolist()
        errors["laplace"] += (((right + 1) / (n + 2) - truth) ** 2).tolist()
    rmse = {name: float(np.sqrt(np.mean(values))) for name, values in errors.items()}
    assert rmse["ours"] < 0.034
    assert rmse["ours"] < 0.75 * min(rmse["raw"], rmse["laplace"])


def test_a_slice_without_labels_has_the_common_accuracy() -> None:
    """Its raw share is unknown, its estimate the mean of all, with a wide interval."""
    found = slice_accuracies({"a": (100, 90), "b": (80, 70), "new": (0, 0)})
    new = next(one for one in found.slices if one.slice_key == "new")
    assert new.raw is None
    assert math.isclose(new.accuracy, found.mean)
    low, high = new.interval
    assert 0 < low < new.accuracy < high < 1
    assert high - low > 0.1


def test_different_slices_are_hardly_shrunk() -> None:
    """Where slices plainly differ, each keeps what its labels say."""
    found = slice_accuracies({"a": (1000, 990), "b": (1000, 500), "c": (1000, 750)})
    for one in found.slices:
        assert abs(one.accuracy - (one.raw or 0)) < 0.005


@pytest.mark.parametrize("counts", [{}, {"a": (3, 4)}, {"a": (3, -1)}])
def test_counts_that_cannot_be_are_refused(counts: dict[str, tuple[int, int]]) -> None:
    """There must be a slice, and no more correct labels than labels."""
    with pytest.raises(InvalidInput):
        slice_accuracies(counts)
