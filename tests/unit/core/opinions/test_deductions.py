"""Arithmetic on failure modes: whole points, each once, never below 0 (G1)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sureline.core.opinions.deductions import (
    Deduction,
    deductions_hash,
    deductions_of,
    highest_composite,
    points_taken,
    score,
)

STATED = {"invented": 40, "off_task": 25, "padding": 10, "form": 30, "assumed": 15}
"""The points that the specification states."""


def mode(name: str, points: int) -> Deduction:
    return Deduction(id=name, points=points, text="t")


modes = st.lists(
    st.builds(mode, st.sampled_from("abcdefgh"), st.integers(1, 100)),
    max_size=20,
    unique_by=lambda one: one.id,
)


@pytest.mark.parametrize(
    ("names", "left"),
    [
        pytest.param([], 1.0, id="none"),
        pytest.param(["padding"], 0.9, id="one"),
        pytest.param(["invented", "off_task", "form"], 0.05, id="three"),
        pytest.param(list(STATED), 0.0, id="all-are-120"),
        pytest.param(["padding"] * 10, 0.9, id="one-said-ten-times"),
    ],
)
def test_points_are_taken_off_a_hundred(names: list[str], left: float) -> None:
    """The score is what is left of 100 points, in hundredths."""
    assert score(points_taken(mode(name, STATED[name]) for name in names)) == left


@settings(deadline=None)
@given(modes)
def test_the_score_is_a_multiple_of_a_hundredth(applied: list[Deduction]) -> None:
    """Whatever applies, the score is one of 101 values in [0, 1], free of dust."""
    assert score(points_taken(applied)) in {points / 100 for points in range(101)}


@settings(deadline=None)
@given(modes, st.integers(1, 100))
def test_another_failure_mode_never_raises_the_score(applied: list[Deduction], more: int) -> None:
    """Adding one lowers the score, or leaves it at 0."""
    before = score(points_taken(applied))
    after = score(points_taken([*applied, mode("another", more)]))
    assert after < before or after == before == 0.0


@pytest.mark.parametrize(
    ("points", "weight", "highest"),
    [(40, 1.0, 0.6), (40, 0.3, 0.88), (120, 0.3, 0.7), (0, 0.3, 1.0), (100, 0.0, 1.0)],
)
def test_the_highest_composite_takes_all_else_for_right(
    points: int, weight: float, highest: float
) -> None:
    """Points count by the weight of the self-evaluation."""
    assert highest_composite(points, weight) == highest


def test_deductions_are_read_in_order_and_hashed() -> None:
    """What a policy stores comes back in the order of the file; any change is another hash."""
    stored = json.dumps(
        [
            {"id": "b", "points": 2, "text": "second", "examples": ["x"]},
            {"id": "a", "points": 1, "text": "first", "examples": []},
        ]
    )
    assert deductions_of(stored) == (
        Deduction(id="b", points=2, text="second", examples=("x",)),
        Deduction(id="a", points=1, text="first"),
    )
    assert deductions_hash(stored) != deductions_hash(stored.replace("2", "3"))
    assert len(deductions_hash(stored)) == 16
