"""The k nearest distinct cases of a window, by exact cosine."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sureline.adapters.search.bank import Window
from sureline.adapters.search.compare import (
    GONE,
    LIVE,
    ROUNDING,
    Compared,
    best_rows,
    evenly_spaced,
)
from sureline.application.ports.cases import Neighbour, Neighbourhood

NEAR_DUPLICATE = 0.999
"""Cases more similar than this are the same case seen again.

One character changed in a text of 500 moves its hashed vector to about .99, so only texts that
differ in less than about one part in a thousand are taken for one.
"""


def nearest(
    window: Window, query: NDArray[np.float32], compared: Compared, k: int
) -> Neighbourhood:
    """Return the `k` nearest distinct cases to `query`, nearest first.

    Near-duplicates count once: at the similarity of the nearest of them, with the verdict of the
    newest of them.
    """
    leaders, newest = _distinct(*_first(window, query, compared, k), k)
    if leaders.size == k:
        near = _named(window, newest, window.vectors[leaders] @ query)
    else:
        near = _nearest_of_many(window, query, k)
    return Neighbourhood(
        neighbours=tuple(near), cases=window.cases, spread=_spread(compared.sample)
    )


def reach(
    window: Window,
    query: NDArray[np.float32],
    compared: Compared,
    k: int,
    near: Sequence[Neighbour],
) -> float:
    """Return the similarity down to which `near` depends on the cases that there are.

    Whoever gave `nearest` all cases down to this similarity got the answer of all cases.
    """
    vectors, rows = _first(window, query, compared, k)
    if _distinct(vectors, rows, k)[0].size == k:
        return float((vectors @ query).min()) - float(ROUNDING)
    if len(near) < k:
        return -1.0
    # A near-duplicate of the last one is not further from the query than both angles together.
    angle = math.acos(near[-1].similarity) + math.acos(NEAR_DUPLICATE)
    return math.cos(angle) if angle < math.pi else -1.0


def spread_of(window: Window, query: NDArray[np.float32]) -> float:
    """Return the spread of the similarities to evenly spaced cases of a window."""
    step = evenly_spaced(len(window.vectors))
    live = np.setdiff1d(np.arange(0, len(window.vectors), step), window.dead, assume_unique=True)
    return _spread(window.vectors[live] @ query)


def _first(
    window: Window, query: NDArray[np.float32], compared: Compared, k: int
) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """Return the 2k best rows with all that are equal to the last, and their vectors.

    No more than those, however many were compared: what a group's newest verdict is must not
    depend on how the rows happen to lie.
    """
    rows, vectors = compared.rows, window.vectors[compared.rows]
    if rows.size <= 2 * k:
        return vectors, rows
    values = vectors @ query
    count = int(np.searchsorted(-values, -(values[2 * k - 1] - ROUNDING), side="right"))
    return vectors[:count], rows[:count]


def _nearest_of_many(window: Window, query: NDArray[np.float32], k: int) -> list[Neighbour]:
    """Look on past near-duplicates: strike out all of those found, and look again."""
    values = np.dot(window.vectors, query)
    values[window.dead] = GONE
    neighbours: list[Neighbour] = []
    left = window.cases
    while left and len(neighbours) < k:
        wanted = k - len(neighbours)
        rows = best_rows(values, values, min(2 * wanted, left))
        leaders, _ = _distinct(window.vectors[rows], rows, wanted)
        found = values[leaders]
        neighbours += _named(window, _strike_out(window, values, leaders), found)
        left = int(np.count_nonzero(values > LIVE))
    return neighbours


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


def _spread(sample: NDArray[np.float32]) -> float:
    """Return the standard deviation of a sample of live cases' cosines."""
    if not sample.size:
        return 0.0
    # Taken from a first value: squares of numbers near 1 would cancel in float32.
    moved = sample - sample[0]
    mean = float(moved.sum()) / moved.size
    return float(max(float(moved @ moved) / moved.size - mean * mean, 0.0) ** 0.5)


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
    first = np.where(same.any(axis=1) & (cosines > LIVE), same.argmax(axis=1), -1)
    first[leaders] = np.arange(leaders.size)
    cosines[first >= 0] = GONE
    return np.array([np.flatnonzero(first == group)[-1] for group in range(leaders.size)])
