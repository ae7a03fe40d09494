"""Labels of several slices counted as one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from sureline.core.statistics.tally import Tally


def pooled(tallies: Iterable[Tally]) -> Tally:
    """Return the labels of all `tallies` as one Tally, whatever their order.

    Entries of equal threshold and score add up. The data hash names the set of the parts'.
    """
    parts = [tally for tally in tallies if tally.n]
    digest = hashlib.sha256("".join(sorted(part.data_hash for part in parts)).encode())
    if not parts:
        nothing = np.zeros(0)
        whole = np.zeros(0, np.int64)
        return Tally(
            threshold=nothing,
            score=nothing,
            labels=whole,
            correct=whole,
            data_hash=digest.hexdigest(),
        )
    thresholds, where = np.unique(
        np.concatenate([part.threshold for part in parts]), return_inverse=True
    )
    score = np.empty(len(thresholds))
    score[where] = np.concatenate([part.score for part in parts])
    counts = [np.concatenate(column) for column in zip(*(p.counts for p in parts), strict=True)]
    labels, correct = (np.bincount(where, c).astype(np.int64)[::-1] for c in counts)
    return Tally(
        threshold=thresholds[::-1],
        score=score[::-1],
        labels=np.cumsum(labels),
        correct=np.cumsum(correct),
        data_hash=digest.hexdigest(),
    )
