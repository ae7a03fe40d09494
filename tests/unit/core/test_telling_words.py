"""The words that tell some texts from others."""

from __future__ import annotations

import pytest

from sureline.core.learning.telling_words import MOST, telling_words, words_of

RENT = [words_of(f"Pay the rent of flat {number} in June") for number in range(10)]
FUEL = [words_of(f"Pay the fuel bill {number} in June") for number in range(10)]


def test_what_stands_in_these_and_not_in_those_is_named() -> None:
    """Words that all texts share say nothing."""
    assert [one.word for one in telling_words(RENT, FUEL)] == ["flat", "rent"]
    first = telling_words(RENT, FUEL)[0]
    assert (first.inside, first.outside) == (1.0, 0.0)


def test_a_single_texts_words_are_not_named() -> None:
    """A name in one or two of the texts describes no group, and stays where it is."""
    inside = [words_of("Adalbert"), words_of("Adalbert"), words_of("rent")]
    assert telling_words(inside, FUEL) == ()


def test_at_most_five_words_are_named() -> None:
    """The most telling come first, then the alphabet decides."""
    inside = [words_of("alpha bravo charlie delta echo foxtrot golf")] * 4
    assert [one.word for one in telling_words(inside, FUEL)] == [
        "alpha", "bravo", "charlie", "delta", "echo",
    ]  # fmt: skip
    assert MOST == 5


@pytest.mark.parametrize(("inside", "outside"), [([], FUEL), (RENT, []), ([], [])])
def test_nothing_is_told_from_nothing(
    inside: list[frozenset[str]], outside: list[frozenset[str]]
) -> None:
    """Without texts on both sides no word is proposed."""
    assert telling_words(inside, outside) == ()


def test_words_are_letters_without_case() -> None:
    """Numbers, short words and marks are left out; any script will do."""
    assert words_of("Die MIETE für 12 m², <b>Улица</b> of_it") == {"die", "miete", "für", "улица"}
