"""The signal `history`: what past verdicts say, and when they say nothing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.application.ports.cases import Neighbour, Neighbourhood
from sureline.core.gate.history import LEAST_SPREAD, fewest_neighbours, history_signal
from sureline.core.gate.vectors import vector_fault
from sureline.core.values.policy import HistoryPolicy
from sureline.core.values.signal import SignalKind, SignalState

POLICY = HistoryPolicy(neighbours=10, similarity_floor=0.6)


def hood(similarities, verdicts=None, *, cases=100, spread=0.08):
    verdicts = verdicts or [True] * len(similarities)
    return Neighbourhood(
        neighbours=tuple(
            Neighbour(decision_id=f"d{i}", similarity=s, approved=v)
            for i, (s, v) in enumerate(zip(similarities, verdicts, strict=True))
        ),
        cases=cases,
        spread=spread,
    )


def test_the_value_is_the_approval_rate_of_the_k_nearest():
    """Ten neighbours above the floor of which seven were approved give .7, with who they were."""
    signal = history_signal(hood([0.9] * 10, [True] * 7 + [False] * 3), POLICY)

    assert (signal.name, signal.kind) == ("history", SignalKind.HISTORICAL)
    assert signal.value == 0.7
    assert signal.detail["approved"] == 7
    assert signal.detail["neighbours"] == [f"d{i}" for i in range(10)]


def test_cases_below_the_floor_do_not_count():
    """Four rejected cases that are too far away leave the rate of the six near ones alone."""
    signal = history_signal(hood([0.8] * 6 + [0.59] * 4, [True] * 6 + [False] * 4), POLICY)

    assert signal.value == 1.0
    assert signal.detail["above_floor"] == 6


def test_the_floor_itself_is_near_enough():
    """A similarity that equals the floor is above it."""
    assert history_signal(hood([0.6] * 10), POLICY).is_measured


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        pytest.param(hood([], cases=0, spread=None), "too_few", id="no-verdicts"),
        pytest.param(hood([0.9] * 9, cases=9), "too_few", id="nine-verdicts"),
        pytest.param(hood([0.59] * 10), "novel", id="nothing-above-the-floor"),
        pytest.param(hood([0.59] * 10, spread=0.0), "novel", id="all-equally-far"),
        pytest.param(hood([0.99] * 4 + [0.1] * 6), "novel", id="four-are-no-rate"),
        pytest.param(hood([1.0]), "novel", id="one-text-many-times"),
        pytest.param(hood([1.0], spread=0.0), "uninformative", id="constant-prompt"),
        pytest.param(hood([0.98] * 10, spread=1e-16), "uninformative", id="almost-zero-spread"),
        pytest.param(
            hood([0.98] * 10, spread=LEAST_SPREAD * 0.99), "uninformative", id="below-the-limit"
        ),
    ],
)
def test_without_a_basis_there_is_no_number(found, reason):
    """Each way of knowing too little is its own reason, and none is a value."""
    signal = history_signal(found, POLICY)

    assert signal.state is SignalState.NOT_APPLICABLE
    assert (signal.reason, signal.value) == (reason, None)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("where", ["similarity", "spread"])
def test_what_is_no_number_fails(bad, where):
    """NaN or infinity from a search is a failure, not a neighbour (H20)."""
    found = hood([bad] + [0.9] * 9) if where == "similarity" else hood([0.9] * 10, spread=bad)

    assert history_signal(found, POLICY).reason == "bad_similarity"


@pytest.mark.parametrize(("k", "fewest"), [(1, 1), (2, 1), (3, 2), (10, 5), (11, 6)])
def test_half_of_k_is_the_least(k, fewest):
    """A rate takes half of K distinct cases, rounded up."""
    assert fewest_neighbours(HistoryPolicy(neighbours=k)) == fewest


similarity = st.floats(-1, 1)


@given(
    st.lists(st.tuples(similarity, st.booleans()), max_size=30),
    st.integers(0, 50),
    st.none() | st.floats(0, 1),
    st.integers(1, 15),
    similarity,
)
def test_a_value_is_always_a_rate_of_what_was_seen(near, cases, spread, k, floor):
    """Whatever a search finds, a measured value is approvals over neighbours."""
    found = hood([s for s, _ in near], [v for _, v in near], cases=cases, spread=spread)
    signal = history_signal(found, HistoryPolicy(neighbours=k, similarity_floor=floor))

    if signal.is_measured:
        count = len(signal.detail["neighbours"])
        assert fewest_neighbours(HistoryPolicy(neighbours=k)) <= count <= k
        assert signal.value == signal.detail["approved"] / count
        assert min(signal.detail["similarities"]) >= floor - 1e-4
    else:
        assert signal.reason in {"too_few", "novel", "uninformative", "bad_similarity"}


@given(st.lists(st.booleans(), min_size=10, max_size=10), st.integers(0, 9))
def test_a_rejection_never_helps(verdicts, flipped):
    """Turning an approval into a rejection never raises the value."""
    worse = [v and i != flipped for i, v in enumerate(verdicts)]

    before = history_signal(hood([0.9] * 10, verdicts), POLICY).value
    assert history_signal(hood([0.9] * 10, worse), POLICY).value <= before


def unit(*numbers, dtype=np.float32):
    return np.array(numbers, dtype=dtype)


@pytest.mark.parametrize(
    ("vector", "fault"),
    [
        pytest.param(unit(0.6, 0.8), None, id="unit"),
        pytest.param(unit(0, 0), "empty_text", id="H06-zeros"),
        pytest.param(unit(np.inf, 0.1), "bad_vector", id="H20-infinity"),
        pytest.param(unit(np.nan, 1), "bad_vector", id="H20-nan"),
        pytest.param(unit(0.6, 0.8, dtype=np.float64), "bad_vector", id="float64"),
        pytest.param(unit(1, 0, 0), "bad_vector", id="other-dimension"),
        pytest.param(unit(6, 8), "bad_vector", id="not-scaled"),
        pytest.param(unit(1e-30, 0), "bad_vector", id="underflow"),
        pytest.param(unit(3e38, 3e38), "bad_vector", id="overflow"),
        pytest.param(np.ones((1, 2), dtype=np.float32), "bad_vector", id="two-axes"),
    ],
)
def test_only_unit_float32_vectors_are_compared(vector, fault):
    """A vector that would poison a ranking is refused by code."""
    assert vector_fault(vector, 2) == fault
