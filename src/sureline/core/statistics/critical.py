"""Exact critical values of the weighted partition test, by dynamic programming.

The null walk: the errors e_l among the best k_l labels grow by independent Bin(k_l - k_(l-1), 1 -
target). P(T_i <= t) is the chance that this walk stays at or above a boundary from band i on, so
one backward pass over the bands gives it for every i and a row of candidate t at once. Nothing is
drawn at random: the values are the same on every machine and need no allowance for a seed.

Everything that is cut off (tails of steps below 1e-9, states more than five deviations above the
mean) is cut so that P(T_i <= t) comes out too small, never too large: the size stays <= delta.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

NEAR, FAR = 0.5, 0.5
"""Exponents of the weights of a band's own count and of later counts. They shape power, not
validity; never set them by looking at the labels that are certified."""

_COARSE, _FINE, _FINE_LARGE = 16, 96, 40
_LARGE = 50_000
"""From so many labels on fewer candidates are tried: 1/30 nat of evidence is nothing there."""
_SPAN = 6.5
_WIDE = 128
"""From so many values of a step on, sums are taken by Fourier transform."""
_TAIL, _MARGIN = 1e-9, 1e-9

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Mass:
    """A binomial distribution on `first`, `first` + 1, ..., as far as it matters."""

    first: int
    mass: Floats


def _binomial(trials: int, chance: float) -> _Mass:
    """Return Bin(trials, chance) by the ratio of neighbours, which loses no digits at any size."""
    mean, deviation = trials * chance, math.sqrt(trials * chance * (1 - chance))
    mode = min(trials, math.floor((trials + 1) * chance))
    low = max(0, math.floor(mean - 8 * deviation - 4))
    high = min(trials, math.ceil(mean + 8 * deviation + 24))
    odds = chance / (1 - chance)
    up = np.arange(mode, high, dtype=np.float64)
    down = np.arange(mode, low, -1, dtype=np.float64)
    rising = np.cumprod((trials - up) / (up + 1) * odds)
    falling = np.cumprod(down / ((trials - down + 1) * odds))[::-1]
    mass = np.concatenate((falling, [1.0], rising))
    mass /= mass.sum()
    return _Mass(low, mass)


def _step(trials: int, chance: float) -> _Mass:
    """Return Bin(trials, chance) without its tails; what is left out counts as not surviving."""
    whole = _binomial(trials, chance)
    rising, falling = np.cumsum(whole.mass), np.cumsum(whole.mass[::-1])[::-1]
    kept = np.flatnonzero((rising > _TAIL) & (falling > _TAIL))
    return _Mass(whole.first + int(kept[0]), whole.mass[kept[0] : kept[-1] + 1])


def _boundary(first: int, log_chance: Floats, level: Floats) -> NDArray[np.int64]:
    """Return, for each level in nats, the fewest errors whose evidence does not exceed it.

    `log_chance` holds, for `first`, ... errors, the logarithm of the chance of at most so many:
    minus their evidence.
    """
    return first + np.searchsorted(log_chance, -level, side="left")


def _ceiling(errors: _Mass, trials: int, chance: float) -> int:
    """Return the highest state that is kept: five deviations above the mean, or the last."""
    high = trials * chance + 5 * math.sqrt(trials * chance * (1 - chance)) + 10
    return min(math.ceil(high), errors.first + len(errors.mass) - 1)


def _step_back(after: Floats, first: int, size: int, step: _Mass, window: int) -> Floats:
    """Return the chance to survive from `first`, ... (`size` states), given that of the next band.

    `after` has one row per state from `window` on. States below it are dead; states above its
    last row survive at least as often as the last row does.
    """
    width = len(step.mass)
    rows = np.arange(size + width - 1) + (first + step.first - window)
    reached = after[np.clip(rows, 0, len(after) - 1)]
    reached[: int(np.searchsorted(rows, 0))] = 0.0
    return _summed(reached, step.mass, size) if width < _WIDE else _transformed(reached, step.mass)


def _summed(reached: Floats, mass: Floats, size: int) -> Floats:
    """Return sum over e of `mass[e] * reached[s + e]` for each s < `size`.

    A banded Toeplitz product, taken in square blocks so that the work grows with the band.
    """
    width = len(mass)
    toeplitz = np.zeros((width, 2 * width - 1))
    for shift in range(width):
        toeplitz[shift, shift : shift + width] = mass
    rest = -size % width
    padded = np.concatenate((reached, np.zeros((rest, reached.shape[1]))))
    pieces = [padded[at : at + 2 * width - 1] for at in range(0, size, width)]
    return np.concatenate([toeplitz @ piece for piece in pieces])[:size]


def _round_up(length: int) -> int:
    """Return the next number of the form 2**k or 3 * 2**k: lengths that transform fast."""
    power: int = 1 << (length - 1).bit_length()
    return power * 3 // 4 if length <= power * 3 // 4 else power


def _transformed(reached: Floats, mass: Floats) -> Floats:
    """Return the same sum by Fourier transform: for long steps much the fewer operations.

    Its rounding, about 1e-15 a band, is far inside `_MARGIN`.
    """
    size = len(reached) - len(mass) + 1
    length = _round_up(len(reached))
    kernel = np.fft.rfft(mass, length).conj()[:, None]
    product: Floats = np.fft.irfft(np.fft.rfft(reached, length, axis=0) * kernel, length, axis=0)
    return product[:size]


def _solve(
    bands: tuple[int, ...], target: float, delta: float, smallest: int, grid: Floats
) -> Floats:
    """Return per band the least of the candidates `grid` (t - FAR ln k_i) that is a valid bound.

    inf where none is. `grid` rises.
    """
    found = np.full(len(bands), np.inf)
    alive, window, steps = np.ones((1, len(grid))), 0, np.diff(bands, prepend=0)
    for i in range(len(bands) - 1, -1, -1):
        size, log_k = bands[i], math.log(bands[i])
        errors = _binomial(size, 1 - target)
        log_chance = np.log(np.cumsum(errors.mass))
        level = grid + FAR * log_k
        last = _ceiling(errors, size, 1 - target)
        first = min(last, int(_boundary(errors.first, log_chance, level[-1:])[0]))
        states = np.arange(first, last + 1)
        if i + 1 < len(bands):
            step = _step(int(steps[i + 1]), 1 - target)
            survive = _step_back(alive, first, len(states), step, window)
        else:
            survive = np.ones((len(states), len(grid)))
        near = NEAR * (log_k - math.log(smallest))
        own = _boundary(errors.first, log_chance, level - near)
        reached = np.where(states[:, None] >= own, survive, 0.0)
        start = first - errors.first
        chance = errors.mass[start : start + len(states)] @ reached
        valid = np.flatnonzero(chance >= 1 - delta + _MARGIN)
        if len(valid):
            found[i] = grid[valid[0]]
        far = _boundary(errors.first, log_chance, level)
        alive = np.where(states[:, None] >= far, survive, 0.0)
        window = first
    return found


@lru_cache(maxsize=512)
def critical_values(bands: tuple[int, ...], target: float, delta: float, smallest: int) -> Floats:
    """Return per band the value that T_i exceeds with probability at most `delta` under the null.

    `bands` are the rising numbers of labels in the bands and `smallest` the number that weights
    start from. The result, shape (len(bands),), in nats, is shared: do not write to it.
    """
    base = -math.log(delta) - FAR * math.log(smallest)
    first_look = np.linspace(base - 0.5, base - 0.5 + _SPAN, _COARSE)
    large = bands[-1] >= _LARGE
    # Only where to look closely depends on the first look: there, every fourth band will do.
    looked_at = (*bands[:-1:4], bands[-1]) if large else bands
    coarse = _solve(looked_at, target, delta, smallest, first_look)
    known = coarse[np.isfinite(coarse)]
    if not len(known):
        return np.full(len(bands), np.inf)
    spacing = _SPAN / (_COARSE - 1)
    candidates, above = (_FINE_LARGE, spacing) if large else (_FINE, 0.0)
    fine = np.linspace(known.min() - spacing, known.max() + above, candidates)
    result = _solve(bands, target, delta, smallest, fine) + FAR * np.log(bands)
    result.setflags(write=False)
    return result
