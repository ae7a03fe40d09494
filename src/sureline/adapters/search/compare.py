"""Cosines of queries with all rows of a window; only the best are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sureline.adapters.search.bank import Window

GONE = np.float32(-2.0)
"""Less than any cosine; marks rows that are dead or counted already."""

LIVE = np.float32(-1.5)

ROUNDING = np.float32(1e-6)
"""Two equal vectors' similarities may differ by this: the sum's order depends on the row."""

_BLOCK = 64
_STRETCH = 8192
_SAMPLE = 2048
_TIES = 1024

Floats = NDArray[np.float32]
Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """One query's best rows, best first, and some cosines of live rows.

    `rows` are at least as many as were wanted (or all live ones), with all that are equal to the
    last. `sample` are the cosines of 2,048 evenly spaced rows: their spread is 1.6 % off.
    """

    rows: Rows
    sample: Floats


def compare(window: Window, query: Floats, wanted: int, scratch: Floats | None = None) -> Compared:
    """Compare one query with every row, in one read of the matrix.

    `scratch` is a flat buffer to work in, if there is one that is long enough.
    """
    count = len(window.vectors)
    out = scratch[:count] if scratch is not None and scratch.size >= count else None
    values = np.dot(window.vectors, query, out=out)
    values[window.dead] = GONE
    sample = values[:: evenly_spaced(values.size)]
    rows = best_rows(values, _maxima(values[None])[0], min(wanted, window.cases))
    return Compared(rows, sample[sample > LIVE])


def compare_all(window: Window, queries: Floats, wanted: int, scratch: Floats) -> list[Compared]:
    """Return what `compare` gives for each query, from one matrix product.

    `scratch` is a flat buffer of at least `room_for(len(queries))` numbers. The product goes in
    stretches of rows and each is sifted while it is in the processor's cache; writing the whole
    product to memory would cost as much as a query alone.
    """
    sieve = _Sieve(len(queries), min(wanted, window.cases))
    step, samples = evenly_spaced(len(window.vectors)), []
    for start in range(0, len(window.vectors), _STRETCH):
        part = window.vectors[start : start + _STRETCH]
        product = scratch[: len(queries) * len(part)].reshape(len(queries), len(part))
        np.matmul(queries, part.T, out=product)
        if window.dead.size:
            low, high = np.searchsorted(window.dead, (start, start + len(part)))
            product[:, window.dead[low:high] - start] = GONE
        samples.append(product[:, -start % step :: step].copy())
        if not sieve.sift(product, start):
            return [compare(window, query, wanted) for query in queries]
    return [
        Compared(rows, sample[sample > LIVE])
        for rows, sample in zip(sieve.best(), np.concatenate(samples, axis=1), strict=True)
    ]


def room_for(queries: int) -> int:
    """Return how many numbers `compare_all` needs as scratch."""
    return queries * _STRETCH


def best_rows(values: Floats, maxima: Floats, wanted: int) -> Rows:
    """Return at least `wanted` rows of highest cosine, best first, newer first among equals.

    The `wanted`-th largest of disjoint blocks' `maxima` is no more than the `wanted`-th largest
    value, and far cheaper to find than by partitioning everything.
    """
    pool = maxima if maxima.size >= wanted else values
    cut = max(np.partition(pool, pool.size - wanted)[pool.size - wanted], LIVE)
    rows = np.flatnonzero(values >= cut - ROUNDING)
    if rows.size > wanted + _TIES:
        # Hundreds of equal texts: the newest speak for all.
        level = values[rows] <= cut + ROUNDING
        rows = np.concatenate((rows[~level], rows[level][-_TIES:]))
    return rows[np.lexsort((-rows, -values[rows]))]


class _Sieve:
    """Keeps of many queries' cosines what may be among the `wanted` best of each.

    What is kept so far gives each query a cut that its best cannot be below; it rises with the
    first, fourth, sixteenth... stretch, so that little is kept in vain.
    """

    def __init__(self, queries: int, wanted: int) -> None:
        self._queries = queries
        self._wanted = wanted
        self._cuts = np.full(queries, LIVE, dtype=np.float32)
        self._stretches = 0
        self._rises_at = 1
        self._kept: list[tuple[Rows, Rows, Floats]] = []

    def sift(self, product: Floats, start: int) -> bool:
        """Keep what reaches the cuts; False when that is so much that sifting is no use."""
        self._stretches += 1
        if self._stretches == 1:
            maxima = _maxima(product)
            if maxima.shape[1] >= self._wanted:
                place = maxima.shape[1] - self._wanted
                highest = np.partition(maxima, place, axis=1)[:, place]
                self._cuts = np.maximum(highest - ROUNDING, LIVE)
        found = np.flatnonzero((product >= self._cuts[:, None]).reshape(-1))
        if found.size > self._queries * _TIES:
            return False
        owners, rows = np.divmod(found, product.shape[1])
        self._kept.append((owners, rows + start, product.reshape(-1)[found]))
        if self._stretches == self._rises_at:
            self._rises_at *= 4
            self._raise_cuts()
        return True

    def best(self) -> list[Rows]:
        """Return each query's rows at or above its cut, best first, newer first among equals."""
        owners, rows, values = self._raise_cuts()
        rows = rows[np.lexsort((-rows, -values, owners))]
        return np.split(rows, np.searchsorted(owners, np.arange(1, self._queries)))

    def _raise_cuts(self) -> tuple[Rows, Rows, Floats]:
        owners, rows, values = map(np.concatenate, zip(*self._kept, strict=True))
        # One key: a cosine is at most 1, so owners lie 4 apart.
        order = np.argsort(owners * 4.0 - values)
        owners, rows, values = owners[order], rows[order], values[order]
        last = np.searchsorted(owners, np.arange(self._queries)) + self._wanted - 1
        last = np.minimum(last, owners.size - 1)
        enough = owners[last] == np.arange(self._queries)
        risen = np.where(enough, values[last] - ROUNDING, LIVE)
        self._cuts = np.maximum(self._cuts, risen)
        stays = values >= self._cuts[owners]
        kept = owners[stays], rows[stays], values[stays]
        self._kept = [kept]
        return kept


def evenly_spaced(rows: int) -> int:
    """Return in which steps to go through `rows` to see no more than 2,048."""
    return max(1, -(-rows // _SAMPLE))


def _maxima(values: Floats) -> Floats:
    """Return per query the maxima of blocks of 64, and what is left over as it is."""
    count, rows = values.shape
    width = rows // _BLOCK
    blocks = values[:, : _BLOCK * width].reshape(count, _BLOCK, width).max(axis=1)
    return np.concatenate((blocks, values[:, _BLOCK * width :]), axis=1)
