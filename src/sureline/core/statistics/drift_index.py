"""The population stability index: a number to look at, never a reason for an alarm (L3).

Its usual cut-offs (.1, .2) fire by chance alone in small windows, because its mean over weeks
without any drift is about (groups - 1)(1/n + 1/m). The alarm is `score_drift`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sureline.core.statistics.drift import ScoreWindow
from sureline.errors import InvalidInput

PSEUDO_COUNT = 0.5
"""Added to every group of both windows, so that an empty group gives a finite index (case C22)."""
GROUPS = 10


def population_stability(reference: ArrayLike, now: ArrayLike) -> float | None:
    """Return sum (p - q) ln(p / q) of the shares of equally many groups of two windows.

    `reference` and `now` are counts, one a group. Each share is (count + .5) / (total + .5 groups),
    so the index is finite for any counts; None where a window is empty.
    """
    before, after = np.asarray(reference, np.float64), np.asarray(now, np.float64)
    if before.shape != after.shape or before.ndim != 1:
        raise InvalidInput("expected one count a group, equally many groups", field="counts")
    if not np.all(np.isfinite(before) & np.isfinite(after) & (before >= 0) & (after >= 0)):
        raise InvalidInput("expected counts of 0 or more", field="counts")
    if not before.sum() or not after.sum():
        return None
    p = (after + PSEUDO_COUNT) / (after.sum() + PSEUDO_COUNT * len(after))
    q = (before + PSEUDO_COUNT) / (before.sum() + PSEUDO_COUNT * len(before))
    return float(np.sum((p - q) * np.log(p / q)))


def score_stability(reference: ScoreWindow, now: ScoreWindow) -> float | None:
    """Return the index over the reference's tenths: groups that hold a tenth of its scores each.

    Where ties make tenths coincide there are fewer groups. None where a window is empty.
    """
    if not reference.n or not now.n:
        return None
    share = np.cumsum(reference.counts) / reference.n
    cuts = np.unique(np.searchsorted(share, np.arange(1, GROUPS) / GROUPS)) + 1
    groups = np.concatenate(([0], cuts[cuts < len(share)]))
    return population_stability(
        np.add.reduceat(reference.counts, groups), np.add.reduceat(now.counts, groups)
    )
