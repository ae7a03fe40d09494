"""Find the group of similar cases that is worse than the rest of its slice (L1).

The groups follow from the vectors alone: the labels have no say in which there are. Given the
vectors, the labels of a group are then a sample like any other, and exact bounds hold for it. They
are corrected for the number of groups looked at (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sureline.core.learning.slice_facts import Share
from sureline.core.statistics.binomial import lower_bound, upper_bound

FEWEST = 10
"""A group has at least so many cases, and there are at least so many for each group made."""
GROUPS = (2, 4, 8, 16, 32)
"""Into how many groups the cases are divided, one division after another."""
DELTA = 0.05
"""Probability that the interval of any group is wrong; half of it on either side."""
_ROUNDS = 25
_SEED = 20261130

Vectors = NDArray[np.float32]
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cluster:
    """A group of similar cases; `rows` are theirs, nearest to the centre first.

    `low` and `high` bound its correctness in [0, 1] with 95 % confidence over all groups at once.
    """

    rows: Rows
    right: Share
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Clustering:
    """What looking for a worse group came to: `worst` is None where none is significantly worse.

    `right` counts all cases, `groups` how many groups were compared (0: too few cases).
    """

    right: Share
    groups: int
    worst: Cluster | None


def worst_cluster(vectors: Vectors, correct: NDArray[np.bool_]) -> Clustering:
    """Return the group whose upper bound lies furthest below the rate of all cases, if any does.

    `vectors` is float32 (n, d) with rows of unit length, `correct` says of each row whether it was
    right. The same cases in the same order give the same answer.
    """
    right = Share(part=int(np.count_nonzero(correct)), whole=len(correct))
    groups = list(_groups(vectors))
    rate = right.value
    if not groups or rate is None:
        return Clustering(right=right, groups=0, worst=None)
    size = np.asarray([len(rows) for rows in groups], np.int64)
    good = np.asarray([np.count_nonzero(correct[rows]) for rows in groups], np.int64)
    level = DELTA / 2 / len(groups)
    high = upper_bound(good, size, level)
    worst = int(np.argmin(high))
    if high[worst] >= rate:
        return Clustering(right=right, groups=len(groups), worst=None)
    return Clustering(
        right=right,
        groups=len(groups),
        worst=Cluster(
            rows=_nearest_first(vectors, groups[worst]),
            right=Share(part=int(good[worst]), whole=int(size[worst])),
            low=float(lower_bound(good[worst], size[worst], level)),
            high=float(high[worst]),
        ),
    )


def _groups(vectors: Vectors) -> Iterator[Rows]:
    """Yield every group of enough cases, each once, that is not all of them."""
    seen: set[bytes] = set()
    for count in GROUPS:
        if len(vectors) < count * FEWEST:
            return
        group = _divide(vectors, count)
        for one in range(count):
            rows = np.flatnonzero(group == one)
            if FEWEST <= len(rows) < len(vectors) and rows.tobytes() not in seen:
                seen.add(rows.tobytes())
                yield rows


def _divide(vectors: Vectors, count: int) -> Rows:
    """Return the group in [0, count) of each row: k-means of Lloyd, started as k-means++.

    Centres are plain means: what all texts share (a template) then moves all distances alike.
    """
    centres = _first_centres(vectors, count)
    group = _closest(vectors, centres)
    for _ in range(_ROUNDS):
        member = np.equal.outer(np.arange(len(centres)), group).astype(np.float32)
        sizes = member.sum(axis=1, keepdims=True)
        centres = np.where(sizes > 0, (member @ vectors) / np.maximum(sizes, 1), centres)
        before, group = group, _closest(vectors, centres)
        if np.array_equal(before, group):
            break
    return group


def _first_centres(vectors: Vectors, count: int) -> Vectors:
    """Draw rows with chances proportional to their squared distance from those drawn before.

    Source: Arthur and Vassilvitskii (2007), "k-means++". Fewer where rows are all alike.
    """
    draw = np.random.default_rng(_SEED)
    chosen = [int(draw.integers(len(vectors)))]
    distance = np.full(len(vectors), np.inf)
    while len(chosen) < count:
        near = np.square(vectors - vectors[chosen[-1]]).sum(axis=1, dtype=np.float64)
        distance = np.minimum(distance, near)
        total = np.cumsum(distance)
        if total[-1] <= 0:
            break
        place = int(np.searchsorted(total, draw.random() * total[-1], side="right"))
        chosen.append(min(place, len(vectors) - 1))
    return vectors[chosen]


def _closest(vectors: Vectors, centres: Vectors) -> Rows:
    found: Rows = np.argmax(vectors @ centres.T - np.square(centres).sum(axis=1) / 2, axis=1)
    return found


def _nearest_first(vectors: Vectors, rows: Rows) -> Rows:
    members = vectors[rows]
    distance = np.square(members - members.mean(axis=0)).sum(axis=1)
    return rows[np.argsort(distance, kind="stable")]
