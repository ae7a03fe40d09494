"""The guard: evidence, trips, restarts, and how long detection takes."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from sureline.core.statistics.guard import (
    EVERY,
    KEPT,
    GuardState,
    Restart,
    evidence,
    guard_from_json,
    guard_json,
    observe,
    read_guard,
    trips,
    update,
    update_all,
)
from sureline.core.statistics.guard_detection import detection, labels_to_detect
from sureline.core.statistics.guard_evidence import log_evidence
from sureline.errors import InvalidInput

START = GuardState(target=0.95)


@pytest.mark.parametrize("target", [0.8, 0.95, 0.99])
@pytest.mark.parametrize(("errors", "labels"), [(0, 1), (1, 1), (3, 20), (12, 100), (0, 300)])
def test_evidence_is_the_mixed_likelihood_ratio(target: float, errors: int, labels: int) -> None:
    """Evidence is the likelihood ratio averaged over the prior of shares above epsilon."""
    epsilon = 1 - target
    power = target / epsilon - 1

    def ratio(share: float) -> float:
        odds = errors * math.log(share / epsilon)
        return math.exp(odds + (labels - errors) * math.log((1 - share) / target))

    ends = [epsilon, min(1, 4 * epsilon), 1]
    above = sum(
        quad(lambda p: ratio(p) * (1 - p) ** power, a, b, epsabs=0)[0]
        for a, b in itertools.pairwise(ends)
    )
    mass = target ** (power + 1) / (power + 1)
    assert float(log_evidence(errors, labels, target)) == pytest.approx(
        math.log(above / mass), abs=1e-6
    )


def test_evidence_is_expected_to_be_one_at_the_boundary() -> None:
    """Over all outcomes of 40 labels at the target, evidence averages 1; above it, less."""
    errors = np.arange(41)
    ways = np.array([math.comb(40, int(k)) for k in errors])
    e = np.exp(log_evidence(errors, np.full(41, 40), 0.95))
    for precision, expected in ((0.95, 1.0), (0.97, None)):
        mean = float((ways * (1 - precision) ** errors * precision ** (40 - errors) * e).sum())
        assert mean == pytest.approx(1.0, rel=1e-9) if expected else mean < 1


def test_a_perfect_record_never_trips() -> None:
    """Where the incomplete beta function underflows, evidence falls on; clipping it would trip."""
    labels = np.array([10_000, 14_000, 100_000, 10**7])
    falling = log_evidence(np.zeros(4), labels, 0.95)
    assert np.all(np.isfinite(falling))
    assert np.all(np.diff(falling) < 0)
    state = START
    for _ in range(70):
        state = observe(state, EVERY, 0)
    assert state.labels > 14_000
    assert not trips(state, 0.05)


def test_both_forms_of_the_evidence_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    """The continued fraction gives what the incomplete beta function gives where both can."""
    counts = np.array([0, 5, 40]), np.array([400, 2000, 3000])
    plain = log_evidence(*counts, 0.95)
    monkeypatch.setattr("sureline.core.statistics.guard_evidence._TINY", 1e10)
    assert np.allclose(log_evidence(*counts, 0.95), plain, atol=1e-9)


def test_a_fall_trips_and_stays_tripped() -> None:
    """After a fall the guard trips; later good labels do not take it back."""
    state = update_all(START, [True] * 300 + [False, True, True] * 60)
    assert trips(state, 0.05)
    later = update_all(state, [True] * 3000)
    assert evidence(later) < math.log(20)
    assert trips(later, 0.05)
    reading = read_guard(later, 0.05)
    assert reading.tripped
    assert reading.peak >= reading.limit == pytest.approx(math.log(20))


def test_the_reading_names_since_when() -> None:
    """The figures count from the restart that speaks loudest: after the good spell."""
    state = update_all(START, [True] * 630 + [False, True, True, True] * 50)
    reading = read_guard(state, 0.05)
    assert (reading.since_label, reading.labels, reading.errors) == (630, 200, 50)
    assert reading.precision == 0.75


def test_nothing_is_said_without_labels() -> None:
    """At the start evidence is 1 and there is no precision."""
    reading = read_guard(START, 0.05)
    assert (reading.tripped, reading.evidence, reading.precision) == (False, 0.0, None)
    assert observe(START, 0, 0) == START


@settings(max_examples=40, deadline=None)
@given(st.lists(st.booleans(), max_size=60), st.integers(0, 500), st.floats(0.5, 0.999))
def test_a_state_survives_json(labels: list[bool], more: int, target: float) -> None:
    """A state written as JSON and read again is the same state."""
    state = observe(update_all(GuardState(target=target), labels), more, more // 9)
    assert guard_from_json(json.loads(json.dumps(guard_json(state), allow_nan=False))) == state


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_batches_of_a_restart_equal_single_labels(errors: list[int]) -> None:
    """Counts that end where tests begin anew leave the evidence that single labels leave."""
    batch = single = START
    for wrong in errors:
        batch = observe(batch, EVERY, wrong)
        single = update_all(single, [False] * wrong + [True] * (EVERY - wrong))
    assert evidence(batch) == pytest.approx(evidence(single))
    assert batch.restarts == single.restarts
    assert single.peak >= batch.peak - 1e-12


def test_memory_is_bounded_and_keeps_the_first_and_the_latest() -> None:
    """However many labels come, at most 256 restarts are kept, the first among them."""
    state = START
    for _ in range(KEPT + 50):
        state = observe(state, EVERY, 6)
    assert len(state.restarts) == KEPT
    assert state.restarts[0] == Restart()
    assert [one.number for one in state.restarts[1:]] == list(range(51, KEPT + 50))
    assert len(json.dumps(guard_json(state))) < 8000


def test_forgetting_a_restart_only_lowers_the_evidence() -> None:
    """Evidence without one of the restarts is smaller, so the guarantee stands."""
    state = update_all(START, [True] * 700 + [False, True] * 20)
    less = replace(state, restarts=(state.restarts[0], *state.restarts[2:]))
    assert evidence(less) < evidence(state)


def test_a_year_at_the_target_rarely_trips() -> None:
    """In 200 years that just meet the target, weekly looks trip in at most alpha of them."""
    random = np.random.default_rng(20261130)
    alarms = 0
    for _ in range(200):
        state = START
        for wrong in random.binomial(42, 0.05, 52):
            state = observe(state, 42, int(wrong))
        alarms += trips(state, 0.05)
    assert alarms <= 10


@pytest.mark.parametrize(
    ("labels", "errors"), [(-1, 0), (3, 4), (3, -1)], ids=["negative", "more-errors", "minus"]
)
def test_impossible_counts_are_refused(labels: int, errors: int) -> None:
    """More errors than labels, or negative counts, are refused."""
    with pytest.raises(InvalidInput):
        observe(START, labels, errors)


@pytest.mark.parametrize(
    "change",
    [
        {"target": 1.0},
        {"target": "high"},
        {"labels": 2.5},
        {"labels": True},
        {"errors": 9},
        {"restarts": []},
        {"restarts": "x"},
        {"restarts": [[0, 0]]},
        {"restarts": [[0, 1, 0]]},
        {"restarts": [[0, 0, 0], [1, 9, 0]]},
        {"restarts": [[0, 0, 0], [-1, 3, 0]]},
        {"peak": math.nan},
        {"peak": None},
    ],
    ids=str,
)
def test_a_damaged_state_is_refused(change: dict) -> None:
    """A state that cannot have come about is an error, never a quiet guard."""
    good = guard_json(observe(START, 5, 1))
    with pytest.raises(InvalidInput):
        guard_from_json({**good, **change})


@pytest.mark.parametrize("alpha", [0.0, 1.0, -1.0, math.nan])
def test_alpha_is_strictly_between_0_and_1(alpha: float) -> None:
    """Other values of alpha are refused."""
    with pytest.raises(InvalidInput, match="alpha"):
        trips(START, alpha)


def test_detection_takes_about_as_long_as_published() -> None:
    """At 12 % errors: about 116 labels from the start, longer after a healthy spell."""
    known = {"target": 0.95, "alpha": 0.05, "precision": 0.88}
    assert 100 <= labels_to_detect(**known) <= 130
    assert 150 <= labels_to_detect(**known, healthy_labels=500) <= 270
    assert labels_to_detect(target=0.95, alpha=0.05, precision=0.95) is None
    assert labels_to_detect(target=0.95, alpha=0.05, precision=0.0) == 4


def test_expected_counts_trip_the_real_guard_when_said() -> None:
    """Labels with errors spread evenly trip the guard within a few labels of the estimate."""
    state, seen = START, 0
    while not trips(state, 0.05):
        seen += 1
        state = update(state, seen % 5 != 0)
    assert abs(seen - labels_to_detect(target=0.95, alpha=0.05, precision=0.8)) <= 8


def test_the_two_week_rate_makes_it_two_weeks() -> None:
    """At the rate stated, detection takes two weeks; where no rate does, none is stated."""
    at = {"target": 0.95, "alpha": 0.05, "healthy_labels": 500}
    slow = detection(weekly_automated=1400, audit_rate=0.01, **at)
    assert slow.weeks > 2
    quick = detection(weekly_automated=1400, audit_rate=slow.two_week_rate, **at)
    assert quick.weeks == pytest.approx(2)
    assert detection(weekly_automated=10, audit_rate=1, **at).two_week_rate is None
    nothing = detection(weekly_automated=0, audit_rate=0.1, **at)
    assert (nothing.weeks, nothing.two_week_rate) == (None, None)
    assert detection(weekly_automated=100, audit_rate=0.0, **at).weeks is None


@pytest.mark.parametrize(
    "wrong", [{"weekly_automated": -1}, {"audit_rate": 1.5}, {"precision": 2.0}], ids=str
)
def test_impossible_volumes_are_refused(wrong: dict) -> None:
    """Negative volumes and rates or precisions outside 0 to 1 are refused."""
    usual = {"weekly_automated": 100.0, "audit_rate": 0.1, "precision": 0.8}
    with pytest.raises(InvalidInput):
        detection(target=0.95, alpha=0.05, healthy_labels=0, **{**usual, **wrong})
