"""The weighted partition test: the loosest band of scores that is precise enough (G20).

Its proof, and what it assumes, is docs/explanation/certificate.md.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sureline.core.statistics.binomial import evidence, smallest_band
from sureline.core.statistics.critical import FAR, NEAR, critical_values

METHOD = "weighted_partition"
"""Name of this test, with exact critical values, on certificates."""

RATIO, RATIO_LARGE, LARGE = 1.01, 1.02, 100_000
"""Growth of the grid of bands, and from `LARGE` labels on; shapes power, not validity."""

_ROUNDING = 1e-9

Counts = NDArray[np.int64]


@lru_cache(maxsize=512)
def _anchors(smallest: int, n: int) -> Counts:
    """Return the numbers of labels near which bands end; they depend on no label's value."""
    anchors, anchor = [], smallest
    while anchor < n:
        anchors.append(anchor)
        ratio = RATIO if anchor < LARGE else RATIO_LARGE
        anchor = max(anchor + 1, math.ceil(anchor * ratio))
    return np.asarray([*anchors, n], np.int64)


def band_ends(labels: Counts, smallest: int) -> Counts:
    """Return the indices, rising, of the distinct scores at which the tested bands end.

    `labels` is cumulative and rises. Each band is the last one that does not exceed its anchor:
    whether a score ends a band then depends on no count above that score, which the proof needs
    where scores are tied.
    """
    if not len(labels) or labels[-1] < smallest:
        return np.zeros(0, np.int64)
    anchors = _anchors(smallest, int(labels[-1]))
    ends = np.unique(np.searchsorted(labels, anchors, side="right") - 1)
    return ends[(ends >= 0) & (labels[ends] >= smallest)]


def loosest_band(labels: Counts, correct: Counts, target: float, delta: float) -> int | None:
    """Return the index of the loosest distinct score whose band is certified, or None.

    `labels` and `correct` are cumulative by distinct score, best first. The chance that the true
    precision of the band returned is below `target` is at most `delta`. The band also passes its
    own exact binomial test.
    """
    smallest = smallest_band(target, delta)
    ends = band_ends(labels, smallest)
    if not len(ends):
        return None
    size = labels[ends]
    own = evidence(correct[ends], size, target)
    log_size = np.log(size)
    later = np.maximum.accumulate((own - FAR * log_size)[::-1])[::-1] + FAR * log_size
    statistic = np.maximum(own + NEAR * (log_size - math.log(smallest)), later)
    critical = critical_values(tuple(size.tolist()), target, delta, smallest)
    exact = own >= -math.log(delta)
    rejected = statistic > critical + _ROUNDING
    rejected[-1] |= exact[-1]
    walked = len(rejected) if rejected.all() else int(np.argmin(rejected))
    proven = np.flatnonzero(exact[:walked])
    return int(ends[proven[-1]]) if len(proven) else None
