"""What a target precision will cost in labels, and how much automation to expect (G20)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sureline.core.statistics.binomial import labels_needed, smallest_band

DEMANDING = 0.99
"""Targets from here on get a warning: they need hundreds of labels without an error."""

_SHARE = (
    (59, 0.0),
    (100, 0.132),
    (200, 0.216),
    (500, 0.330),
    (1000, 0.422),
    (2000, 0.519),
    (5000, 0.659),
    (20000, 0.800),
)
"""Mean share of the possible automation at target .95, delta .05, over random shapes.

From docs/reference/threshold-benchmark.md; the named shapes there do better.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """What to expect of a target before there are labels.

    `fewest[e]` is the fewest labels in a band that prove the target with e errors among them.
    `shares` maps a number of labels to the share of the automation that is possible at this
    target (which only the labels can tell) that a certificate gives on average. `demanding` says
    that the target is so high that a warning is due.
    """

    target: float
    delta: float
    fewest: tuple[int, ...]
    shares: tuple[tuple[int, float], ...]
    demanding: bool


def outlook(target: float, delta: float, *, errors: int = 5) -> Outlook:
    """Return the labels needed for 0 .. `errors` errors and the automation to expect."""
    sizes = (200, 500, 1000, 2000, 5000, 20000)
    return Outlook(
        target=target,
        delta=delta,
        fewest=tuple(labels_needed(e, target, delta) for e in range(errors + 1)),
        shares=tuple((n, expected_share(n, target, delta)) for n in sizes),
        demanding=target >= DEMANDING,
    )


def expected_share(labels: int, target: float, delta: float) -> float:
    """Return the mean share of the possible automation that `labels` labels certify, 0 to 1.

    A rough figure: measured at target .95 and delta .05, carried over to others in proportion
    to the smallest provable band.
    """
    scaled = labels * 59 / smallest_band(target, delta)
    sizes, shares = zip(*_SHARE, strict=True)
    return float(np.interp(math.log(max(1.0, scaled)), np.log(sizes), shares))
