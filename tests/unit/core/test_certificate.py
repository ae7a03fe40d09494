"""Certificates, and why there are none."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from sureline.core.statistics.bins import bins_of, edge, score_bin
from sureline.core.statistics.certificate import Demand, Provenance, certify, certify_slices
from sureline.core.statistics.tally import Tally, tally_counts, tally_labels
from sureline.core.values.certificate import Certificate, ErrorRate, NoCertificate, Uncertified
from sureline.errors import InvalidInput

PROVENANCE = Provenance(
    workspace="w",
    policy_hash="p",
    measurement_hash="m",
    issued_at=datetime(2026, 5, 1, tzinfo=UTC),
)


def result(tally: Tally, **demand: float) -> Certificate | Uncertified:
    """Certify a tally of one slice."""
    return certify(tally, slice_key="s", demand=Demand(**demand), provenance=PROVENANCE)


def labels(*runs: tuple[float, int, int]) -> Tally:
    """Count runs of (score, labels, errors)."""
    scores = np.concatenate([np.full(n, score) for score, n, _ in runs])
    right = np.concatenate([np.arange(n) >= errors for _, n, errors in runs])
    return tally_labels(scores, right)


def refusal(tally: Tally, **demand: float) -> Uncertified:
    """Certify a tally that must not get a certificate."""
    found = result(tally, **demand)
    assert isinstance(found, Uncertified)
    return found


def grant(tally: Tally, **demand: float) -> Certificate:
    """Certify a tally that must get a certificate."""
    found = result(tally, **demand)
    assert isinstance(found, Certificate)
    return found


def test_c01_eight_labels_are_insufficient_and_give_no_threshold() -> None:
    """C01: too few labels give a reason and a count of missing ones, never a number."""
    scores = [0.95, 0.9, 0.88, 0.85, 0.8, 0.7, 0.55, 0.4]
    found = refusal(tally_labels(scores, [1, 1, 1, 1, 0, 0, 0, 0]))
    assert found.reason is NoCertificate.INSUFFICIENT_DATA
    assert (found.n, found.labels_missing) == (8, 55)
    assert "55 more labels without an error" in found.message


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        pytest.param([(0.8599650844, 58, 0)], "58 labels are too few: 1 more label without an error"
                     " at scores of 0.8600 or more would do", id="one missing"),
        pytest.param([(0.999612, 57, 0)], "57 labels are too few: 2 more labels without an error"
                     " at scores of 0.99962 or more would do", id="two missing, near 1"),
        pytest.param([(0.5, 1, 0)], "1 label is too few: 58 more labels", id="one label"),
        pytest.param([(0.7123456, 400, 100)], "400 labels, but no band of scores is precise enough:"
                     " the best lower bound is 0.712 at scores of 0.7124 or more, and 0.95 is "
                     "needed",
                     id="none precise enough"),
    ],
)  # fmt: skip
def test_what_is_missing_is_said_in_few_digits(
    runs: list[tuple[float, int, int]], said: str
) -> None:
    """One label is singular, and a printed score is short and never below the real one."""
    assert said in refusal(labels(*runs)).message


def test_c02_a_threshold_is_never_below_the_lowest_score_seen() -> None:
    """C02: with 300 correct labels from .2 up, the threshold is a supported score."""
    found = grant(tally_labels(np.linspace(0.2, 1.0, 300), np.ones(300)))
    assert found.threshold == 0.2
    assert found.lower_bound >= 0.95
    assert found.coverage == 1.0


def test_c03_ties_are_one_block() -> None:
    """C03: a hundred labels with one score and 60 % correct have no threshold."""
    found = refusal(labels((0.9, 100, 40)))
    assert found.reason is NoCertificate.NO_CERTIFIABLE_THRESHOLD
    assert found.best_threshold == 0.9


def test_c04_an_approved_set_is_checked_as_a_whole() -> None:
    """C04: 19 wrong labels at the very top count in every band."""
    found = refusal(tally_labels(np.linspace(1, 0, 400), np.arange(400) >= 19))
    assert found.labels_missing is not None
    ten_thousand = grant(tally_labels(np.linspace(1, 0, 10_000), np.arange(10_000) >= 19))
    assert ten_thousand.lower_bound >= 0.95


def test_c05_nineteen_of_twenty_prove_nothing() -> None:
    """C05: 19 of 20 correct is insufficient, and the labels still needed are stated."""
    found = refusal(labels((0.9, 20, 1)))
    assert found.reason is NoCertificate.INSUFFICIENT_DATA
    assert found.labels_missing == 73
    assert found.best_lower_bound is not None
    assert found.best_lower_bound < 0.8


def test_c08_too_few_and_not_good_enough_are_different() -> None:
    """C08: 80 labels with 11 errors are enough labels, but no band is precise enough."""
    order = np.random.default_rng(3).permutation(80)
    found = refusal(tally_labels(np.linspace(1, 0.2, 80), order >= 11))
    assert found.reason is NoCertificate.NO_CERTIFIABLE_THRESHOLD
    assert found.labels_missing is None
    assert found.best_lower_bound is not None
    assert found.best_threshold is not None


@pytest.mark.parametrize(
    ("n", "missing"), [(0, 59), (1, 58), (28, 31), (58, 1)], ids=lambda v: str(v)
)
def test_missing_labels_without_an_error_are_counted(n: int, missing: int) -> None:
    """Correct labels fall short of 59 by what is said to be missing."""
    found = refusal(labels((0.9, n, 0)))
    assert found.reason is NoCertificate.INSUFFICIENT_DATA
    assert found.labels_missing == missing
    assert isinstance(result(labels((0.9, n + missing, 0))), Certificate)


@pytest.mark.parametrize(
    "runs",
    [
        pytest.param(((0.9, 40, 0), (0.5, 40, 3)), id="a-good-top"),
        pytest.param(((0.9, 70, 1),), id="one-error"),
        pytest.param(((0.99, 30, 0), (0.9, 60, 3), (0.2, 200, 100)), id="a-bad-tail"),
    ],
)
def test_the_missing_labels_do_certify(runs: tuple) -> None:
    """Adding the missing labels, correct, at the stated score gives a certificate."""
    found = refusal(labels(*runs))
    assert found.labels_missing is not None
    score = float(found.message.split("scores of ")[1].split(" ")[0])
    assert isinstance(result(labels(*runs, (score, found.labels_missing, 0))), Certificate)
    fewer = result(labels(*runs, (score, found.labels_missing - 1, 0)))
    assert isinstance(fewer, Uncertified)


def test_a_certificate_says_what_it_rests_on() -> None:
    """Every field of a certificate comes from the labels, the demand or the provenance."""
    tally = labels((0.99, 300, 3), (0.5, 100, 50))
    found = grant(tally)
    assert (found.threshold, found.n, found.in_band, found.correct) == (0.99, 400, 300, 297)
    assert found.coverage == 0.75
    assert (found.target, found.delta, found.error_rate) == (0.95, 0.05, ErrorRate.PER_SLICE)
    assert (found.workspace, found.slice_key) == ("w", "s")
    assert (found.policy_hash, found.measurement_hash) == ("p", "m")
    assert found.data_hash == tally.data_hash
    assert found.method == "weighted_partition"
    assert found.issued_at == PROVENANCE.issued_at
    assert found.id.startswith("cert_")


def test_the_same_labels_give_the_same_certificate() -> None:
    """A certificate's id names its content."""
    first, again = grant(labels((0.9, 90, 0))), grant(labels((0.9, 90, 0)))
    assert first == again
    assert grant(labels((0.9, 91, 0))).id != first.id


def test_a_family_shares_delta() -> None:
    """With the family error rate each of m slices gets delta / m; per slice each gets delta."""
    tallies = {key: labels((0.9, n, 0)) for key, n in (("a", 70), ("b", 110))}
    alone = certify_slices(tallies, demand=Demand(), provenance=PROVENANCE)
    family = certify_slices(
        tallies, demand=Demand(error_rate=ErrorRate.FAMILY), provenance=PROVENANCE
    )
    assert all(isinstance(found, Certificate) for found in alone.values())
    assert isinstance(family["a"], Uncertified)
    assert family["a"].labels_missing == 2
    assert isinstance(family["b"], Certificate)
    assert (family["b"].delta, family["b"].family_size) == (0.025, 2)


def test_a_binned_threshold_keeps_exactly_the_counted_labels() -> None:
    """A certificate from counts selects, on the recorded scores, the labels it was proven on."""
    random = np.random.default_rng(8)
    scores = random.beta(8, 0.6, 3000)
    right = random.random(3000) < scores
    found = grant(tally_counts(bins_of(scores), right, np.ones(3000, int)))
    chosen = scores >= found.threshold
    assert found.threshold == edge(score_bin(found.threshold))
    assert (int(chosen.sum()), int(right[chosen].sum())) == (found.in_band, found.correct)


def test_no_threshold_splits_a_tie() -> None:
    """A certified threshold is a distinct score, and its band has all labels of that score."""
    found = grant(labels((0.99, 100, 0), (0.9, 500, 10), (0.1, 50, 40)))
    assert (found.threshold, found.in_band) == (0.9, 600)


@pytest.mark.parametrize("demand", [{"target": 1.0}, {"delta": 0.0}, {"target": float("nan")}])
def test_an_impossible_demand_is_refused(demand: dict) -> None:
    """A target of 1 or a delta of 0 cannot be shown by any number of labels."""
    with pytest.raises(InvalidInput):
        Demand(**demand)


def test_the_reference_labels_give_the_reference_threshold() -> None:
    """On a continuous score the band is the one that the reference prototype finds."""
    random = np.random.default_rng(1)
    sizes, thresholds = (1000, 5000), []
    for n in (100, 300, *sizes):
        scores = random.beta(6, 1, n)
        right = random.random(n) < scores
        if n in sizes:
            thresholds.append(round(grant(tally_labels(scores, right)).threshold, 6))
    assert thresholds == [0.90277, 0.908421]
