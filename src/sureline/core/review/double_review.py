"""Blind double review: what two people said of the same, and who is right (R7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sureline.core.statistics.kappa import Kappa, cohens_kappa


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoAnswers:
    """Two people's labels of one item, given without knowing of each other's."""

    slice_key: str
    first_by: str
    first: bool
    second_by: str
    second: bool

    @property
    def agree(self) -> bool:
        """Tell whether they said the same."""
        return self.first is self.second


def agreement(pairs: Sequence[TwoAnswers]) -> Kappa:
    """Return Cohen's kappa of the first ones' answers with the second ones'."""
    table = [[0, 0], [0, 0]]
    for one in pairs:
        table[one.first][one.second] += 1
    return cohens_kappa(table)


def by_slice(pairs: Sequence[TwoAnswers]) -> dict[str, Kappa]:
    """Return the agreement of each slice."""
    keys = sorted({one.slice_key for one in pairs})
    return {key: agreement([one for one in pairs if one.slice_key == key]) for key in keys}


def by_pair(pairs: Sequence[TwoAnswers]) -> dict[tuple[str, str], Kappa]:
    """Return the agreement of every two people, whoever of them came first.

    The table of a pair has the person whose name sorts first in its rows.
    """
    sorted_pairs = [one if one.first_by <= one.second_by else _swapped(one) for one in pairs]
    names = sorted({(one.first_by, one.second_by) for one in sorted_pairs})
    return {
        name: agreement([one for one in sorted_pairs if (one.first_by, one.second_by) == name])
        for name in names
    }


def with_others(name: str, pairs: Sequence[TwoAnswers]) -> Kappa:
    """Return how far one person agrees with all others together; their answers are the rows."""
    first = [one for one in pairs if one.first_by == name]
    second = [_swapped(one) for one in pairs if one.second_by == name]
    return agreement([*first, *second])


def _swapped(one: TwoAnswers) -> TwoAnswers:
    return TwoAnswers(
        slice_key=one.slice_key,
        first_by=one.second_by,
        first=one.second,
        second_by=one.first_by,
        second=one.first,
    )
