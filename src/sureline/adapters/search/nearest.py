"""The k nearest distinct cases of a window, by exact cosine."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sureline.adapters.search.bank import Window
from sureline.application.ports.cases import Neighbour, Neighbourhood

NEAR_DUPLICATE = 0.999
"""Cases more similar than this are the same case seen again.

One character changed in a text of 500 moves its hashed vector to about .99, so only texts that
differ in less than about one part in a thousand are taken for one.
"""

_ROUNDING = 1e-6
"""Two equal vectors' similarities may differ by this: the sum's order depends on the row."""

_GONE = -2.0
"""Less than any cosine; marks rows that are dead or counted already."""

_ALIVE = -1.5
_BLOCK = 64
_STRETCH = 4096
_SPREAD_SAMPLE = 2048
_TIES = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Cosines:
    """One query's cosines with all rows of a window, and maxima of disjoint blocks of them."""

    values: NDArray[np.float32]
    maxima: NDArray[np.float32]


def compare(window: Window, query: NDArray[np.float32]) -> Cosines:
    """Return the cosines of one query; dead rows get -2."""
    values = np.dot(window.vectors, query)
    values[window.dead] = _GONE
    return Cosines(values, _maxima(values[None])[0])


def compare_all(
    window: Window, queries: NDArray[np.float32], scratch: NDArray[np.float32]
) -> list[Cosines]:
    """Return what `compare` gives for each query, from one matrix product.

    `scratch` is a flat buffer of at least queries x (rows + 4,096) numbers: fresh memory costs
    more than the product saves. The product goes in stretches of rows, so that its maxima are
    taken while it is in the processor's cache.
    """
    count, rows = len(queries), len(window.vectors)
    values = scratch[: count * rows].reshape(count, rows)
    maxima = []
    for start in range(0, rows, _STRETCH):
        part = window.vectors[start : start + _STRETCH]
        product = scratch[count * rows :][: count * len(part)].reshape(count, len(part))
        np.matmul(queries, part.T, out=product)
        if window.dead.size:
            low, high = np.searchsorted(window.dead, (start, start + len(part)))
            product[:, window.dead[low:high] - start] = _GONE
        values[:, start : start + len(part)] = product
        maxima.append(_maxima(product))
    return list(map(Cosines, values, np.concatenate(maxima, axis=1)))


def room_for(count: int, window: Window) -> int:
    """Return how many numbers `compare_all` needs for `count` queries."""
    return count * (len(window.vectors) + _STRETCH)


def _maxima(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return per query the maxima of blocks of 64, and what is left over as it is."""
    count, rows = values.shape
    width = rows // _BLOCK
    blocks = values[:, : _BLOCK * width].reshape(count, _BLOCK, width).max(axis=1)
    return np.concatenate((blocks, values[:, _BLOCK * width :]), axis=1)


def nearest(window: Window, cosines: Cosines, k: int) -> Neighbourhood:
    """Return the `k` nearest distinct cases, nearest first; overwrites `cosines`.

    Near-duplicates count once: at the similarity of the nearest of them, with the verdict of the
    newest of them.
    """
    values, maxima = cosines.values, cosines.maxima
    spread = _spread(values, has_dead=bool(window.dead.size))
    neighbours: list[Neighbour] = []
    left = window.cases
    while left and len(neighbours) < k:
        wanted = k - len(neighbours)
        rows = _best(values, maxima, min(2 * wanted, left))
        leaders, newest = _distinct(window.vectors[rows], rows, wanted)
        found = values[leaders]
        left = 0
        if len(leaders) < wanted:
            newest = _strike_out(window, values, leaders)
            maxima = values
            left = int(np.count_nonzero(values > _ALIVE))
        neighbours += _named(window, newest, found)
    return Neighbourhood(neighbours=tuple(neighbours), cases=window.cases, spread=spread)


def _named(
    window: Window, rows: NDArray[np.intp], similarities: NDArray[np.float32]
) -> list[Neighbour]:
    approved = window.approved[rows].tolist()
    return [
        Neighbour(
            decision_id=window.decision_id(row), similarity=similarity, approved=approved[index]
        )
        for index, (row, similarity) in enumerate(
            zip(rows.tolist(), np.clip(similarities, -1.0, 1.0).tolist(), strict=True)
        )
    ]


def _spread(cosines: NDArray[np.float32], *, has_dead: bool) -> float:
    """Return the standard deviation over all cases or 2,048 evenly spaced ones (1.6 % off)."""
    sample = cosines[:: -(-cosines.size // _SPREAD_SAMPLE)]
    if has_dead:
        sample = sample[sample > _ALIVE]
        if not sample.size:
            return 0.0
    # Taken from a first value: squares of numbers near 1 would cancel in float32.
    moved = sample - sample[0]
    mean = float(moved.sum()) / moved.size
    return float(max(float(moved @ moved) / moved.size - mean * mean, 0.0) ** 0.5)


def _best(
    values: NDArray[np.float32], maxima: NDArray[np.float32], wanted: int
) -> NDArray[np.intp]:
    """Return at least `wanted` rows of highest cosine, best first, newer first among equals.

    The `wanted`-th largest of disjoint blocks' maxima is no more than the `wanted`-th largest
    value, and far cheaper to find than by partitioning everything.
    """
    pool = maxima if maxima.size >= wanted else values
    cut = max(float(np.partition(pool, pool.size - wanted)[pool.size - wanted]), _ALIVE)
    rows = np.flatnonzero(values >= np.float32(cut - _ROUNDING))
    if rows.size > wanted + _TIES:
        # Hundreds of equal texts: the newest speak for all.
        level = values[rows] <= cut + _ROUNDING
        rows = np.concatenate((rows[~level], rows[level][-_TIES:]))
    return rows[np.lexsort((-rows, -values[rows]))]


def _distinct(
    vectors: NDArray[np.float32], rows: NDArray[np.intp], wanted: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return up to `wanted` rows that are no near-duplicates, and the newest row of each."""
    same = vectors @ vectors[:wanted].T > NEAR_DUPLICATE
    if np.count_nonzero(same) == min(wanted, rows.size):
        return rows[:wanted], rows[:wanted]
    free = np.ones(rows.size, dtype=np.bool_)
    leaders: list[int] = []
    newest: list[int] = []
    while len(leaders) < wanted and free.any():
        first = int(free.argmax())
        group = free & (vectors @ vectors[first] > NEAR_DUPLICATE)
        group[first] = True
        leaders.append(int(rows[first]))
        newest.append(int(rows[group].max()))
        free &= ~group
    return np.array(leaders, dtype=np.intp), np.array(newest, dtype=np.intp)


def _strike_out(
    window: Window, cosines: NDArray[np.float32], leaders: NDArray[np.intp]
) -> NDArray[np.intp]:
    """Mark every near-duplicate of `leaders` as counted and return the newest of each."""
    same = window.vectors @ window.vectors[leaders].T > NEAR_DUPLICATE
    first = np.where(same.any(axis=1) & (cosines > _ALIVE), same.argmax(axis=1), -1)
    first[leaders] = np.arange(leaders.size)
    cosines[first >= 0] = _GONE
    return np.array([np.flatnonzero(first == group)[-1] for group in range(leaders.size)])
