"""A share from labels that were drawn at several known rates (STATISTICS §2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

import scipy

TAIL = 0.025
"""What each side of a 95 % interval leaves out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stratum:
    """Items that were to be labelled at one rate: `size` items, `labels` of them labelled."""

    size: int
    labels: int
    correct: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StratifiedShare:
    """The share correct among `items`, of which `labels` were labelled.

    `estimate` weights each stratum by its items (Horvitz-Thompson, post-stratified) and speaks of
    the strata that have labels; None without any. `interval` is the two-sided 95 % interval at the
    effective number of labels `effective` (Korn and Graubard 1998). `unrepresented` items are in
    strata without a label: the interval lets all of them be wrong, or right. `extremes` let every
    single item without a label be wrong, or right.
    """

    items: int
    labels: int
    unrepresented: int
    effective: float
    estimate: float | None
    interval: tuple[float, float]
    extremes: tuple[float, float]


def stratified_share(strata: Sequence[Stratum]) -> StratifiedShare:
    """Return the share correct over all strata; without items, everything from 0 to 1 is possible.

    A label never stands for items of another stratum, and an item without one is never counted as
    correct. The interval is approximate: measured type-I error at most .049 at .05.
    """
    items = sum(one.size for one in strata)
    labels = sum(one.labels for one in strata)
    seen = [one for one in strata if one.labels]
    known = sum(one.size for one in seen)
    if not known:
        return StratifiedShare(
            items=items,
            labels=0,
            unrepresented=items,
            effective=0.0,
            estimate=None,
            interval=(0.0, 1.0),
            extremes=(0.0, 1.0),
        )
    estimate = fsum(one.size / known * one.correct / one.labels for one in seen)
    effective = 1.0 / fsum((one.size / known) ** 2 / one.labels for one in seen)
    low, high = binomial_interval(estimate, effective)
    part = known / items
    right = sum(one.correct for one in strata)
    return StratifiedShare(
        items=items,
        labels=labels,
        unrepresented=items - known,
        effective=effective,
        estimate=estimate,
        interval=(part * low, part * high + (1 - part)),
        extremes=(right / items, (items - (labels - right)) / items),
    )


def binomial_interval(share: float, n: float) -> tuple[float, float]:
    """Return the two-sided 95 % Clopper-Pearson interval of `share` in [0, 1] of `n` labels.

    `n` > 0 need not be whole.
    """
    right, wrong = share * n, (1.0 - share) * n
    low = float(scipy.special.betaincinv(right, wrong + 1.0, TAIL)) if right > 1e-9 else 0.0
    high = float(scipy.special.betaincinv(right + 1.0, wrong, 1.0 - TAIL)) if wrong > 1e-9 else 1.0
    return low, high
