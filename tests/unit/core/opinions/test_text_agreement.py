"""How many further generations say the same as a text."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sureline.core.opinions.text_agreement import Saying, text_agreement


def saying(degrees: float | None, text: str = "text") -> Saying:
    """A text whose vector points somewhere in the plane; None for a text with nothing in it."""
    if degrees is None:
        return Saying(text=text, vector=None)
    angle = math.radians(degrees)
    return Saying(text=text, vector=np.array([math.cos(angle), math.sin(angle)], np.float32))


def test_the_share_that_is_close_to_the_output_is_the_value() -> None:
    """Two of four are near it; two others are near each other."""
    others = [saying(5), saying(-5), saying(90, "b"), saying(95, "a")]
    found = text_agreement(saying(0), others, 0.9)
    assert (found.value, found.agreeing) == (0.5, 2)
    assert (found.largest_other, found.instead) == (2, "a")


def test_a_chain_of_texts_does_not_reach_further_than_its_first_link() -> None:
    """The cluster is what is close to the output itself."""
    found = text_agreement(saying(0), [saying(20), saying(40), saying(60)], 0.9)
    assert found.agreeing == 1


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        pytest.param("pay 100", "pay 100.", True, id="the same number"),
        pytest.param("pay 100", "pay 900", False, id="another number"),
        pytest.param("pay 100", "pay", False, id="a number left out"),
        pytest.param("5 and 3", "3, then 5", True, id="in another order"),
        pytest.param("1.5", "15", False, id="a point"),
        pytest.param("-5", "5", False, id="a minus"),
        pytest.param("\u22125", "-5", True, id="another minus"),
        pytest.param("3-5", "3\u20135", True, id="a range is no minus"),
        pytest.param("\u0663", "3", True, id="other digits"),
        pytest.param("1,000", "1000", False, id="written in another way"),
        pytest.param("100\u0301", "100", True, id="a mark after it"),
    ],
)
def test_texts_with_other_numbers_never_say_the_same(one: str, other: str, same: bool) -> None:
    """However close their vectors are."""
    found = text_agreement(saying(0, one), [saying(0, other)], 0.5)
    assert found.agreeing == same


@pytest.mark.parametrize("similarity", [0.0, 0.5, 1.0])
def test_a_text_with_nothing_in_it_is_like_no_other(similarity: float) -> None:
    """Not like a text, and not like another empty one; nor is one that could not be read."""
    assert text_agreement(saying(None), [saying(None), saying(0), None], similarity).agreeing == 0
    found = text_agreement(saying(0), [saying(None), None], similarity)
    assert (found.agreeing, found.largest_other) == (0, 0)


def test_equal_vectors_agree_at_a_similarity_of_one() -> None:
    """Rounding of 32-bit floats does not come between a text and itself."""
    draw = np.random.default_rng(1)
    for _ in range(50):
        row = draw.normal(size=256).astype(np.float32)
        row /= np.float32(np.sqrt(row @ row))
        one = Saying(text="a", vector=row)
        assert text_agreement(one, [one], 1.0).agreeing == 1


def test_without_generations_there_is_no_agreement() -> None:
    """No evidence is not full agreement."""
    with pytest.raises(ValueError, match="at least one"):
        text_agreement(saying(0), [], 0.8)


sayings = st.builds(
    saying,
    st.one_of(st.none(), st.floats(-180, 180)),
    st.sampled_from(["", "a", "a 1", "a 2", "\ud800", "1" * 500]),
)
several = st.lists(st.one_of(st.none(), sayings), min_size=1, max_size=7)


@given(sayings, several, st.floats(0, 1), st.randoms(use_true_random=False))
def test_the_value_is_a_share_whatever_the_order(
    output: Saying, others: list[Saying | None], similarity: float, order: random.Random
) -> None:
    """In [0, 1], and the same for every order of the generations."""
    found = text_agreement(output, others, similarity)
    assert 0.0 <= found.value <= 1.0
    assert found.agreeing + found.largest_other <= found.generations == len(others)
    shuffled = list(others)
    order.shuffle(shuffled)
    assert text_agreement(output, shuffled, similarity) == found


@given(sayings, several, st.one_of(st.none(), sayings), st.floats(0, 1), st.data())
def test_a_generation_that_disagrees_never_raises_the_value(
    output: Saying,
    others: list[Saying | None],
    other: Saying | None,
    similarity: float,
    data: st.DataObject,
) -> None:
    """Putting one in another's place moves the value by its own agreement only."""
    index = data.draw(st.integers(0, len(others) - 1))
    before = text_agreement(output, others, similarity)
    own = [text_agreement(output, [one], similarity).agreeing for one in (others[index], other)]
    changed = [other if place == index else one for place, one in enumerate(others)]
    after = text_agreement(output, changed, similarity)
    assert after.agreeing - before.agreeing == own[1] - own[0]
