"""Who gets labelled: thinning, effective size, and the ways that fail."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sureline.core.gate.sampling import Purpose, draw
from sureline.core.statistics.bins import BINS
from sureline.core.statistics.partition import loosest_band
from sureline.core.statistics.selection import (
    SampledCount,
    Stratum,
    decision_coverage,
    effective_tally,
    is_kept,
    sampling_rate,
    stratum_counts,
    thinned_tally,
)
from sureline.core.statistics.tally import Tally, tally_counts
from sureline.errors import InvalidInput

SECRET = b"s" * 32
HIGH, LOW = 9000, 3000
NONE = np.zeros(BINS, np.int64)


def row(score_bin: int, correct: bool, count: int, *, kept: bool, seen: float) -> SampledCount:
    return SampledCount(
        score_bin=score_bin, correct=correct, count=count, kept=kept, propensity=seen
    )


def passes(tally: Tally) -> bool:
    return loosest_band(tally.labels, tally.correct, 0.95, 0.05) is not None


@settings(max_examples=60, deadline=None)
@given(st.floats(0.01, 1), st.floats(0.01, 1), st.integers(0, 2**32))
def test_a_decision_is_kept_with_the_rate_whatever_its_score(
    rate: float, propensity: float, seed: int
) -> None:
    """Seen with chance q and kept with chance rate / q: each decision is kept at the rate."""
    random = np.random.default_rng(seed)
    seen, draws = random.random(2000) < propensity, random.random(2000)
    kept = [
        is_kept(seen=bool(s), propensity=propensity, rate=rate, draw=d)
        for s, d in zip(seen, draws, strict=True)
    ]
    chance = min(rate, propensity)
    assert abs(np.mean(kept) - chance) <= 5 * np.sqrt(chance * (1 - chance) / 2000) + 1e-9
    assert not any(k for k, s in zip(kept, seen, strict=True) if not s)


def test_every_audited_decision_is_kept() -> None:
    """What was audited at the rate itself is kept whatever its draw; what is unseen never is."""
    last = np.nextafter(1.0, 0.0)
    assert is_kept(seen=True, propensity=0.05, rate=0.05, draw=last)
    assert not is_kept(seen=False, propensity=0.05, rate=0.05, draw=0.0)
    assert not is_kept(seen=True, propensity=1.0, rate=0.05, draw=0.05)


def test_thinning_does_not_look_at_the_audit_draw() -> None:
    """The draws for audit and thinning of an id are independent, and fixed by the secret."""
    ids = [f"d{i}" for i in range(4000)]
    audit = np.array([draw(SECRET, Purpose.AUDIT, one) for one in ids])
    thin = np.array([draw(SECRET, Purpose.THINNING, one) for one in ids])
    assert abs(np.corrcoef(audit, thin)[0, 1]) < 0.06
    assert thin.tolist() == [draw(SECRET, Purpose.THINNING, one) for one in ids]


@pytest.mark.parametrize(("automates", "rate"), [(True, 0.05), (False, 1.0)])
def test_a_slice_that_automates_nothing_keeps_everything(automates: bool, rate: float) -> None:
    """In log-only mode, or with a switch on, all are seen alike and no label is wasted."""
    assert sampling_rate(automates=automates, audit_rate=0.05) == rate


def test_counting_again_gives_the_same_bytes() -> None:
    """The same rows, in any order and split in any way, give the same tally and data hash."""
    rows = [
        row(HIGH, True, 40, kept=True, seen=0.05),
        row(HIGH, False, 1, kept=True, seen=0.05),
        row(LOW, True, 300, kept=False, seen=1.0),
        row(LOW, True, 12, kept=True, seen=1.0),
    ]
    split = [*rows[::-1], row(LOW, True, 5, kept=True, seen=1.0)]
    split[0] = row(LOW, True, 7, kept=True, seen=1.0)
    assert thinned_tally(rows).data_hash == thinned_tally(split).data_hash
    assert thinned_tally(rows).n == 53


def test_one_more_label_changes_no_other() -> None:
    """A new label adds one to the kept counts or nothing: no other mark changes."""
    before = [row(HIGH, True, 40, kept=True, seen=0.05)]
    unkept = thinned_tally([*before, row(LOW, False, 1, kept=False, seen=1.0)])
    kept = thinned_tally([*before, row(LOW, False, 1, kept=True, seen=1.0)])
    assert unkept.data_hash == thinned_tally(before).data_hash
    assert kept.n == 41


def test_case_c09_unreviewed_is_no_label() -> None:
    """C09: of 500 automated and 50 reviewed, none of the 500 counts unless it was audited."""
    reviewed = [row(LOW, True, 40, kept=True, seen=1.0), row(LOW, False, 10, kept=True, seen=1.0)]
    tally = thinned_tally(reviewed)
    assert tally.band(0.0) == (50, 40)
    assert tally.band(0.99) == (0, 0)
    assert not passes(tally)
    strata = [
        Stratum(decisions=_at(HIGH, 500), labels=NONE, correct=NONE),
        Stratum(decisions=_at(LOW, 50), labels=_at(LOW, 50), correct=_at(LOW, 40)),
    ]
    assert effective_tally(strata).n == 0
    assert passes(tally_counts([HIGH, LOW, LOW], [1, 1, 0], [500, 40, 10]))


def test_case_c24_a_later_correction_moves_one_label() -> None:
    """C24: a late correction moves one count of the sample that was fixed when it was decided."""
    before = thinned_tally([row(HIGH, True, 80, kept=True, seen=0.05)])
    after = thinned_tally(
        [row(HIGH, True, 79, kept=True, seen=0.05), row(HIGH, False, 1, kept=True, seen=0.05)]
    )
    assert (before.n, after.n) == (80, 80)
    assert int(after.correct[-1]) == 79
    assert before.data_hash != after.data_hash


def test_an_incident_nobody_was_to_see_does_not_count() -> None:
    """An incident about an output outside the sample is no label of the sample."""
    incident = row(HIGH, False, 3, kept=False, seen=0.05)
    assert thinned_tally([row(HIGH, True, 80, kept=True, seen=0.05), incident]).n == 80


def test_rejected_scores_are_left_out() -> None:
    """Below the reject threshold people see fewer: no band reaches there."""
    rows = [row(LOW, True, 9, kept=True, seen=0.02), row(HIGH, True, 60, kept=True, seen=0.05)]
    assert thinned_tally(rows, from_bin=LOW + 1).n == 60


def _at(place: int, count: int) -> np.ndarray:
    counts = NONE.copy()
    counts[place] = count
    return counts


def _half_automated(random: np.random.Generator, high: float) -> tuple[int, int, int, int]:
    """Draw audited and correct ones of 2,000 automated, correct ones of 2,000 reviewed."""
    audited = int(random.binomial(2000, 0.1))
    right = int(random.binomial(audited, high))
    low_kept = int(random.binomial(2000, 0.1))
    return audited, right, low_kept, int(random.binomial(low_kept, 0.6))


def test_thinned_labels_keep_the_promise_where_wrong_ways_fail() -> None:
    """Just below target: thinning certifies at most delta; the wrong ways nearly always."""
    random = np.random.default_rng(20261130)
    thinned = unreviewed = weighted = 0
    for _ in range(300):
        audited, right, n, correct = _half_automated(random, 0.949)
        tally = tally_counts(
            [HIGH, HIGH, LOW, LOW], [1, 0, 1, 0], [right, audited - right, correct, n - correct]
        )
        thinned += passes(tally)
        wrong = audited - right
        unreviewed += passes(tally_counts([HIGH, HIGH], [1, 0], [2000 - wrong, wrong]))
        weighted += right >= 0.95 * audited
    assert thinned <= 25
    assert unreviewed == 300
    assert weighted > 120


def test_without_an_audit_a_fall_is_not_seen() -> None:
    """Labels from before the fall alone certify the band that is now at .85; audited ones not."""
    before = [row(HIGH, True, 390, kept=True, seen=1.0), row(HIGH, False, 10, kept=True, seen=1.0)]
    assert passes(thinned_tally(before))
    since = [row(HIGH, True, 85, kept=True, seen=0.1), row(HIGH, False, 15, kept=True, seen=0.1)]
    assert not passes(thinned_tally([*before, *since]))


def test_effective_size_is_korn_and_graubards() -> None:
    """Precision is weighted by decisions; the size is 1 / sum(W^2 / n), rounded down."""
    automated = Stratum(decisions=_at(HIGH, 900), labels=_at(HIGH, 90), correct=_at(HIGH, 87))
    reviewed = Stratum(decisions=_at(LOW, 100), labels=_at(LOW, 100), correct=_at(LOW, 60))
    tally = effective_tally([automated, reviewed])
    assert tally.labels.tolist() == [90, 109]
    precision = 0.9 * 87 / 90 + 0.1 * 0.6
    assert tally.correct.tolist() == [87, round(109 * precision)]
    assert decision_coverage([automated, reviewed], float(tally.threshold[0])) == 0.9
    assert decision_coverage([], 0.5) is None
    assert effective_tally([]).n == 0


def test_one_stratum_labelled_in_full_is_the_plain_tally() -> None:
    """Where everything is labelled, effective counts are the counts."""
    random = np.random.default_rng(3)
    bins = random.integers(4000, 9000, 500)
    right = random.random(500) < 0.9
    plain = tally_counts(bins, right, np.ones(500, np.int64))
    effective = effective_tally([stratum_counts(bins, bins, bins[right])])
    assert effective.labels.tolist() == plain.labels.tolist()
    assert effective.correct.tolist() == plain.correct.tolist()
    assert effective.threshold.tolist() == plain.threshold.tolist()


def test_effective_size_keeps_the_promise_too() -> None:
    """Just below target, effective size certifies in about delta of 300 windows at most."""
    random, certified = np.random.default_rng(7), 0
    for _ in range(300):
        audited, right, _, _ = _half_automated(random, 0.949)
        automated = Stratum(
            decisions=_at(HIGH, 2000), labels=_at(HIGH, audited), correct=_at(HIGH, right)
        )
        same = int(random.binomial(500, 0.949))
        reviewed = Stratum(decisions=_at(LOW, 500), labels=_at(LOW, 500), correct=_at(LOW, same))
        certified += passes(effective_tally([automated, reviewed]))
    assert certified <= 25


@pytest.mark.parametrize(
    "wrong",
    [
        {"labels": _at(HIGH, 2)},
        {"correct": _at(HIGH, 1)},
        {"decisions": np.zeros(3, np.int64)},
    ],
    ids=["more-labels", "more-correct", "other-bins"],
)
def test_impossible_strata_are_refused(wrong: dict) -> None:
    """More labels than decisions, more correct ones than labels, or other bins are refused."""
    usual = {"decisions": _at(HIGH, 1), "labels": NONE, "correct": NONE}
    with pytest.raises(InvalidInput, match="stratum"):
        Stratum(**{**usual, **wrong})


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan")])
def test_impossible_rates_are_refused(share: float) -> None:
    """Rates and propensities are shares."""
    with pytest.raises(InvalidInput):
        sampling_rate(automates=True, audit_rate=share)
    with pytest.raises(InvalidInput):
        is_kept(seen=True, propensity=share, rate=0.5, draw=0.1)
    with pytest.raises(InvalidInput):
        is_kept(seen=True, propensity=0.5, rate=share, draw=0.1)
