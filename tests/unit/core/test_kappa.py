"""Agreement of two people beyond chance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.statistics.kappa import cohens_kappa
from sureline.errors import InvalidInput

SEXUAL_FUN = [[7, 7, 2, 3], [2, 8, 3, 7], [1, 5, 4, 9], [2, 8, 9, 14]]
"""91 couples (Agresti 1990; Hout et al. 1987), the example of R's package vcd."""


@pytest.mark.parametrize(
    ("table", "value"),
    [
        ([[20, 5], [10, 15]], 0.4),
        ([[45, 15], [25, 15]], 0.1304),
        ([[25, 35], [5, 35]], 0.2593),
        (SEXUAL_FUN, 0.1293),
    ],
    ids=["grants", "alike_margins", "other_margins", "couples"],
)
def test_published_examples_come_out(table: list[list[int]], value: float) -> None:
    """The kappas of worked examples in print come out to four digits."""
    assert cohens_kappa(table).value == pytest.approx(value, abs=5e-5)


def test_the_standard_error_is_the_published_one() -> None:
    """R's vcd prints an asymptotic standard error of 0.06860 for the couples."""
    assert cohens_kappa(SEXUAL_FUN).error == pytest.approx(0.06860, abs=5e-6)


def test_full_agreement_of_few_is_no_certainty() -> None:
    """Twenty agreements do not prove that two people always agree."""
    found = cohens_kappa([[10, 0], [0, 10]])
    assert found.value == 1.0
    assert found.interval[0] < 0.7


@pytest.mark.parametrize("table", [[[0, 0], [0, 0]], [[30, 0], [0, 0]]], ids=["none", "one_answer"])
def test_without_anything_to_agree_on_nothing_is_said(table: list[list[int]]) -> None:
    """No pairs, or one answer only, give no kappa and an interval of everything."""
    found = cohens_kappa(table)
    assert (found.value, found.interval) == (None, (-1.0, 1.0))


@pytest.mark.parametrize("table", [[[1, 2]], [[1, -1], [0, 1]], [[True, 0], [0, 1]]])
def test_what_is_no_table_is_refused(table: list[list[int]]) -> None:
    """A table that is not square or holds anything but counts is refused."""
    with pytest.raises(InvalidInput, match="square table"):
        cohens_kappa(table)


@given(st.lists(st.integers(0, 50), min_size=4, max_size=4))
def test_the_interval_holds_the_value(cells: list[int]) -> None:
    """Value and interval stay within [-1, 1], and the value within the interval."""
    found = cohens_kappa([cells[:2], cells[2:]])
    low, high = found.interval
    assert -1 <= low <= high <= 1
    assert found.value is None or low - 1e-9 <= found.value <= high + 1e-9


def test_the_interval_covers() -> None:
    """Of 1000 samples of 40 pairs each, at least 94 % of the intervals hold the true kappa."""
    truth = np.array([0.7, 0.08, 0.05, 0.17])
    margin = (0.78 * 0.75) + (0.22 * 0.25)
    true_kappa = (0.87 - margin) / (1 - margin)
    rng = np.random.default_rng(5)
    hits = 0
    for a, b, c, d in rng.multinomial(40, truth, size=1000).tolist():
        low, high = cohens_kappa([[a, b], [c, d]]).interval
        hits += low <= true_kappa <= high
    assert hits >= 940
