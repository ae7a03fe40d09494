"""Whether a reviewer notices planted errors, tested again after every item."""

from __future__ import annotations

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from sureline.core.statistics.attention import (
    ALPHA,
    Detection,
    attention,
    miss_evidence,
)
from sureline.errors import InvalidInput


def test_who_notices_nothing_is_named_after_four() -> None:
    """Four planted errors missed in a row suffice, in one slice or in several."""
    assert not attention([("a", False)] * 3).flagged
    assert attention([("a", False), ("b", False), ("c", False), ("a", False)]).flagged


def test_a_careful_reviewer_is_named_in_less_than_one_run_of_a_hundred() -> None:
    """Of 2000 who miss 10 % of 150 planted errors in two slices, fewer than 1 % are ever named."""
    rng = np.random.default_rng(11)
    named = 0
    for _ in range(2000):
        caught = rng.random(150) >= 0.1
        named += attention([("ab"[i % 2], bool(one)) for i, one in enumerate(caught)]).flagged
    assert named < 20


def test_who_does_not_look_in_one_slice_only_is_named_for_it() -> None:
    """A good record elsewhere does not hide it."""
    good = [("invoices", True)] * 60
    bad = [("letters", False)] * 6
    found = attention([*good, *bad])
    assert found.inattentive_in == ("letters",)
    assert found.flagged
    assert found.slices["invoices"] == Detection(caught=60, shown=60)


def test_evidence_once_reached_counts() -> None:
    """Looking well later does not take back what was seen."""
    early = [("a", False)] * 4
    assert attention([*early, *[("a", True)] * 200]).flagged


@settings(deadline=None)
@given(st.integers(0, 60), st.integers(0, 60))
def test_evidence_agrees_with_quadrature(misses: int, caught: int) -> None:
    """The closed form is the integral that defines it."""
    shown = misses + caught
    found, _ = scipy.integrate.quad(
        lambda p: (p / 0.1) ** misses * ((1 - p) / 0.9) ** caught / 0.9, 0.1, 1.0, limit=200
    )
    assert miss_evidence(misses, shown) == pytest.approx(np.log(found), abs=1e-6)


def test_the_expected_evidence_of_a_careful_reviewer_is_one_at_most() -> None:
    """At a share of 10 % missed the expectation is 1 after any number; below, less."""
    for shown in (1, 7, 40):
        misses = np.arange(shown + 1)
        each = np.exp([miss_evidence(int(one), shown) for one in misses])
        for share, most in ((0.1, 1.0), (0.05, 1.0), (0.0, 1.0)):
            expected = float(np.sum(each * scipy.stats.binom.pmf(misses, shown, share)))
            assert expected <= most + 1e-9


def test_impossible_counts_are_refused() -> None:
    """More misses than items, or a share of 0, is refused."""
    with pytest.raises(InvalidInput):
        miss_evidence(2, 1)
    with pytest.raises(InvalidInput):
        miss_evidence(0, 1, careful=0.0)


def test_nothing_shown_says_nothing() -> None:
    """Without a planted error there is no share, no bound and no flag."""
    found = attention([])
    assert (found.detection.share, found.detection.low, found.flagged) == (None, 0.0, False)
    assert found.detection.interval == (0.0, 1.0)
    assert pytest.approx(0.001) == ALPHA
