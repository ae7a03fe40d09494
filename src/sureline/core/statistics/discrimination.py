"""Does a score tell right from wrong? AUROC from labels that count differently, with an interval.

Hanley and McNeil (1982) for what it means: the chance that a right output has a higher score than
a wrong one, ties counting half. DeLong, DeLong and Clarke-Pearson (1988) for its variance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Z = 1.959963984540054
"""The normal quantile of .975."""
_PSEUDO = 0.5
"""Labels of each class that are added at each end of the scale for the interval."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Discrimination:
    """`auroc` in [0, 1] with its two-sided 95 % interval."""

    auroc: float
    low: float
    high: float


@dataclass(slots=True, kw_only=True)
class Weighed:
    """Labels that count differently: their number, their weights and the squares of these."""

    labels: int = 0
    weight: float = 0.0
    squares: float = 0.0

    def add(self, weight: float) -> None:
        """Take in one label."""
        self.labels += 1
        self.weight += weight
        self.squares += weight * weight

    @property
    def effective(self) -> float:
        """Return as how many equal labels these count (Kish): their number where all are equal."""
        return self.weight**2 / self.squares if self.squares else 0.0


def discrimination(
    right: Mapping[int, Weighed], wrong: Mapping[int, Weighed]
) -> Discrimination | None:
    """Return how well a score tells right from wrong, by score bin; None without both.

    The interval adds half a label of each class at each end of the scale, so that it is never
    empty, and is taken on the logit scale, so that it never leaves [0, 1].
    """
    bins = sorted({*right, *wrong})
    good, bad = _by_bin(right, bins), _by_bin(wrong, bins)
    if not good.sum() or not bad.sum():
        return None
    for counts, of in ((good, right), (bad, wrong)):
        counts *= _together(of).effective / counts.sum()
    auroc, _ = _area(good, bad)
    ends = np.zeros(len(bins) + 2)
    ends[0] = ends[-1] = _PSEUDO
    shrunk, variance = _area(_padded(good) + ends, _padded(bad) + ends)
    spread = _Z * math.sqrt(variance) / (shrunk * (1 - shrunk))
    middle = math.log(shrunk / (1 - shrunk))
    return Discrimination(
        auroc=auroc,
        low=min(auroc, _logistic(middle - spread)),
        high=max(auroc, _logistic(middle + spread)),
    )


def _together(of: Mapping[int, Weighed]) -> Weighed:
    found = Weighed()
    for one in of.values():
        found.labels += one.labels
        found.weight += one.weight
        found.squares += one.squares
    return found


def _by_bin(of: Mapping[int, Weighed], bins: list[int]) -> Floats:
    return np.asarray([of[one].weight if one in of else 0.0 for one in bins])


def _padded(counts: Floats) -> Floats:
    return np.concatenate([[0.0], counts, [0.0]])


def _area(good: Floats, bad: Floats) -> tuple[float, float]:
    """Return the area under the curve and its variance, of counts by bin, lowest bin first."""
    n, m = float(good.sum()), float(bad.sum())
    below = (np.cumsum(bad) - bad / 2) / m
    above = 1 - (np.cumsum(good) - good / 2) / n
    area = float(good @ below) / n
    by_good = float(good @ (below - area) ** 2) / n / max(n - 1, 1)
    by_bad = float(bad @ (above - area) ** 2) / m / max(m - 1, 1)
    return area, by_good + by_bad


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > -700 else 0.0
