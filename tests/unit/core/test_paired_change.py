"""The paired test is exact: it counts all signs, keeps its rate, and finds what is there."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sureline.core.statistics.paired_change import UNIT, fewest_moves, paired_change

SCORES = st.lists(st.tuples(st.integers(0, UNIT), st.integers(0, UNIT)), max_size=9)


@given(SCORES)
def test_it_counts_what_enumeration_counts(pairs: list[tuple[int, int]]) -> None:
    """The p-value is the share of all 2^n signs whose sum is at least as far from 0."""
    before, after = [a / UNIT for a, _ in pairs], [b / UNIT for _, b in pairs]
    moved = [b - a for a, b in pairs if a != b]
    seen = abs(sum(moved))
    signs = list(product((-1, 1), repeat=len(moved)))
    extreme = sum(
        abs(sum(sign * each for sign, each in zip(way, moved, strict=True))) >= seen
        for way in signs
    )
    assert paired_change(before, after).p == pytest.approx(extreme / len(signs))


@given(SCORES)
def test_it_does_not_matter_which_run_came_first(pairs: list[tuple[int, int]]) -> None:
    """Looking backwards gives the same p and the opposite change."""
    before, after = [a / UNIT for a, _ in pairs], [b / UNIT for _, b in pairs]
    there, back = paired_change(before, after), paired_change(after, before)
    assert (there.p, there.mean) == (back.p, -back.mean)


@pytest.mark.parametrize("kind", ["judge", "evaluator"])
def test_it_keeps_its_rate_where_nothing_changed(kind: str) -> None:
    """Two runs of the same noisy evaluator differ at .025 in at most about 2.5 % of cases."""
    draw = np.random.default_rng(7)
    alarms, rounds = 0, 1500
    for _ in range(rounds):
        often = draw.beta(0.5, 0.5, size=20)  # each canary has its own chance of being let pass
        if kind == "judge":
            before, after = (draw.random((2, 20)) < often).astype(float)
        else:
            before, after = np.round(draw.binomial(5, often, size=(2, 20)) / 5, 2)
        alarms += paired_change(before.tolist(), after.tolist()).p <= 0.025
    assert alarms / rounds <= 0.025 + 3 * (0.025 / rounds) ** 0.5


@pytest.mark.parametrize(
    ("pairs", "rate", "fewest"), [(20, 0.025, 7), (10, 0.025, 7), (5, 0.025, None), (20, 0.05, 6)]
)
def test_the_fewest_moves_that_show(pairs: int, rate: float, fewest: int | None) -> None:
    """So many scores that all move one way show; one fewer do not."""
    assert fewest_moves(pairs, rate) == fewest
    if fewest is not None:
        for count, shows in ((fewest, True), (fewest - 1, False)):
            after = [0.4] * count + [0.0] * (pairs - count)
            assert (paired_change([0.0] * pairs, after).p <= rate) is shows


def test_no_pairs_say_nothing() -> None:
    """Without pairs, or where none moved, p is 1."""
    assert paired_change([], []).p == 1
    assert paired_change([0.3] * 4, [0.3] * 4).p == 1


@settings(max_examples=5)
@given(st.lists(st.floats(0, 1), min_size=30, max_size=30))
def test_thirty_canaries_are_quick(scores: list[float]) -> None:
    """2^30 ways of giving signs are counted without being listed."""
    assert 0 < paired_change(scores, scores[::-1]).p <= 1
