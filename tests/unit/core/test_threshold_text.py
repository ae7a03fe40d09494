"""A threshold is printed short, and never below what it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.values.counted import counted
from sureline.core.values.threshold_text import threshold_text


@pytest.mark.parametrize(
    ("threshold", "text"),
    [
        (0.8599650844, "0.8600"),
        (0.86, "0.8600"),
        (0.86001, "0.8601"),
        (0.99961, "0.99961"),
        (0.999612, "0.99962"),
        (0.99999627, "0.9999963"),
        (0.9999, "0.9999"),
        (0.05, "0.0500"),
        (0.000012341, "0.00001235"),
        (0.0, "0"),
        (1.0, "1"),
    ],
)
def test_a_threshold_has_as_many_digits_as_it_takes(threshold: float, text: str) -> None:
    """Four decimals in the middle, more near 0 and near 1."""
    assert threshold_text(threshold) == text


@given(st.floats(0, 1))
def test_what_is_printed_is_not_below_the_threshold(threshold: float) -> None:
    """Whoever uses the printed number automates no more; only 1 itself is printed as 1."""
    printed = float(threshold_text(threshold))
    assert printed >= threshold
    assert printed < 1 or threshold == 1
    assert printed - threshold <= 1e-4


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0 more labels"), (1, "1 more label"), (2, "2 more labels")]
)
def test_one_is_singular(number: int, text: str) -> None:
    """Only one thing is one thing."""
    assert counted(number, "more label") == text
