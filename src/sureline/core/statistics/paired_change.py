"""Whether scores of the same items changed between two runs: an exact paired test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

UNIT = 1000
"""Scores are compared to a thousandth, so that the test's distribution can be counted out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedChange:
    """The mean change over `pairs` items, of which `moved` did; `p` is exact and two-sided.

    `p` is 1 and `mean` 0 where there is no pair, or none moved.
    """

    pairs: int
    moved: int
    mean: float
    p: float


def paired_change(before: Sequence[float], after: Sequence[float]) -> PairedChange:
    """Compare scores in [0, 1] of the same items, in the same order.

    The sign-flip permutation test (Fisher 1935, The Design of Experiments, section 21): if nothing
    changed, each item's difference is as likely to have the other sign. All 2^n ways of giving
    signs are counted by dynamic programming over the sum, so that P(p <= a) <= a whatever the
    scores look like. Items that did not move say nothing and fall out.
    """
    differences = [
        round(UNIT * new) - round(UNIT * old) for old, new in zip(before, after, strict=True)
    ]
    moved = [each for each in differences if each]
    if not moved:
        return PairedChange(pairs=len(differences), moved=0, mean=0.0, p=1.0)
    return PairedChange(
        pairs=len(differences),
        moved=len(moved),
        mean=fmean(differences) / UNIT,
        p=_share_as_extreme(moved),
    )


def _share_as_extreme(differences: Sequence[int]) -> float:
    """Return the share of all signs whose sum lies at least as far from 0 as the one seen."""
    ways: dict[int, int] = {0: 1}
    for each in differences:
        further: dict[int, int] = {}
        for total, count in ways.items():
            for flipped in (total + each, total - each):
                further[flipped] = further.get(flipped, 0) + count
        ways = further
    seen = abs(sum(differences))
    extreme = sum(count for total, count in ways.items() if abs(total) >= seen)
    return extreme / (1 << len(differences))


def fewest_moves(pairs: int, rate: float) -> int | None:
    """Return how many items must move one way, and none the other, to show at this rate.

    None where not even all of them would.
    """
    return next((n for n in range(1, pairs + 1) if 2.0 ** (1 - n) <= rate), None)
