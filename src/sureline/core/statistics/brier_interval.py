"""The Brier score with a bootstrap interval, from counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sureline.core.statistics.tally import Tally

_DRAWS = 2000
_AT_ONCE = 50
"""Draws that are held in memory together: with all bins in use they take 8 MB."""
_SEED = 20261130
_TAIL = 2.5


@dataclass(frozen=True, slots=True, kw_only=True)
class BrierScore:
    """The mean squared error of a score with its 95 % percentile interval, in [0, 1]."""

    value: float
    interval: tuple[float, float]


def brier_score(tally: Tally) -> BrierScore | None:
    """Return the Brier score of labelled scores with its interval, or None without labels.

    Resampling n labels with replacement is one multinomial draw over the distinct (score, label)
    pairs, so the cost does not grow with the number of labels. The seed is fixed: the same labels
    give the same interval.
    """
    if not tally.n:
        return None
    labels, correct = tally.counts
    count = np.concatenate([correct, labels - correct])
    loss = np.concatenate([(1 - tally.score) ** 2, tally.score**2])
    loss, count = loss[count > 0], count[count > 0]
    random = np.random.default_rng(_SEED)
    means = np.concatenate(
        [
            random.multinomial(tally.n, count / tally.n, _AT_ONCE) @ loss / tally.n
            for _ in range(_DRAWS // _AT_ONCE)
        ]
    )
    low, high = np.percentile(means, [_TAIL, 100 - _TAIL])
    return BrierScore(value=float(count @ loss) / tally.n, interval=(float(low), float(high)))
