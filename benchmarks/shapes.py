"""Shapes of score and correctness to certify on, each with its true precision at any threshold.

The named ones: calibrated, over-confident, bimodal, flat just
above and below the target, with ties. The random ones are drawn afresh from a seed; nothing was
ever tuned on them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray
from scipy.special import expit, logit

Floats = NDArray[np.float64]
TRUTH = 1_000_000
"""Scores drawn to compute a shape's true precision; labels do not enter, so it is exact to 1e-4."""


@dataclass(frozen=True)
class Shape:
    """How scores are drawn, and the chance that an output with a score is correct."""

    name: str
    draw: Callable[[Generator, int], Floats]
    chance: Callable[[Floats], Floats]
    continuous: bool = True
    monotone: bool = True

    def sample(self, random: Generator, n: int) -> tuple[Floats, NDArray[np.bool_]]:
        """Draw n scores and labels."""
        score = self.draw(random, n)
        return score, random.random(n) < self.chance(score)

    @cached_property
    def truth(self) -> Truth:
        """Return the true precision at or above any threshold."""
        score = np.sort(self.draw(np.random.default_rng(7), TRUTH))[::-1]
        return Truth(score, np.cumsum(self.chance(score)) / np.arange(1, TRUTH + 1))


@dataclass(frozen=True)
class Truth:
    """Scores, best first, and the true precision of the best 1, 2, ... of them."""

    score: Floats
    precision: Floats

    def at(self, threshold: float | None) -> tuple[float, float]:
        """Return the precision and the coverage of {score >= threshold}; (1, 0) for None."""
        size = 0
        if threshold is not None:
            size = len(self.score) - int(np.searchsorted(self.score[::-1], threshold))
        return (float(self.precision[size - 1]), size / len(self.score)) if size else (1.0, 0.0)

    def oracle(self, target: float) -> float:
        """Return the largest coverage of a band whose true precision is at least `target`."""
        ends = np.flatnonzero(np.append(self.score[1:] != self.score[:-1], True))
        good = ends[(self.precision[ends] >= target) & (ends > len(self.score) // 4000)]
        return (int(good[-1]) + 1) / len(self.score) if len(good) else 0.0


def _beta(a: float, b: float) -> Callable[[Generator, int], Floats]:
    return lambda random, n: random.beta(a, b, n)


def _uniform(random: Generator, n: int) -> Floats:
    return random.random(n)


def _two_humps(random: Generator, n: int) -> Floats:
    sure = random.random(n) < 0.65
    return np.where(sure, random.beta(18, 1.6, n), random.beta(12, 8, n))


def _thirteen_values(random: Generator, n: int) -> Floats:
    return np.round(random.beta(6, 1.3, n) * 12) / 12


def _ties_at_one(random: Generator, n: int) -> Floats:
    kind = random.random(n)
    rest = np.round(random.beta(5, 2, n), 2)
    return np.where(kind < 0.45, 1.0, np.where(kind < 0.6, 0.925, rest))


def _constant(value: float) -> Callable[[Floats], Floats]:
    return lambda s: np.full_like(s, value)


def _top_dip(s: Floats) -> Floats:
    body = np.clip(0.55 + 0.45 * s, 0, 1) + np.where(s > 0.8, 0.02, 0)
    return np.minimum(np.where(s > 0.985, 0.90, body), 0.995)


NAMED = (
    Shape("calibrated b(6,1)", _beta(6, 1), lambda s: s),
    Shape("strong, base .80", _beta(5, 1.2), lambda s: expit(9.5 * s - 4.5)),
    Shape(
        "over-confident, base .73",
        _beta(8, 1.5),
        lambda s: expit(0.75 * logit(np.clip(s, 1e-6, 1 - 1e-6)) - 0.45),
    ),
    Shape(
        "two humps, base .85",
        _two_humps,
        lambda s: np.where(
            s > 0.78, 0.972 + 0.02 * (s - 0.78) / 0.22, np.clip(0.25 + 0.75 * s, 0, 0.9)
        ),
    ),
    Shape(
        "13 values, base .86",
        _thirteen_values,
        lambda s: np.clip(0.35 + 0.64 * s, 0, 1),
        continuous=False,
    ),
    Shape(
        "ties at 1, base .87",
        _ties_at_one,
        lambda s: np.where(s >= 1, 0.975, np.where(s >= 0.92, 0.955, 0.55 + 0.35 * s)),
        continuous=False,
    ),
    Shape("flat .97", _uniform, _constant(0.97)),
    Shape("flat .951", _uniform, _constant(0.951)),
    Shape("flat .949 (null)", _uniform, _constant(0.949)),
    Shape("step .99/.5, base .74", _uniform, lambda s: np.where(s > 0.52, 0.99, 0.5)),
    Shape("edge .9501/.9485", _uniform, lambda s: np.where(s > 0.5, 0.9501, 0.9485)),
    Shape("top dip (confidently wrong)", _beta(6, 1), _top_dip, monotone=False),
    Shape("base .98", _beta(6, 1), lambda s: 0.93 + 0.065 * s),
    Shape("base .60", _beta(2, 1.4), lambda s: expit(9.5 * s - 5.2)),
)
"""The fourteen named shapes."""


def _values(values: tuple[float, ...], shares: tuple[float, ...]) -> Callable[..., Floats]:
    return lambda random, n: random.choice(values, n, p=shares)


def _steps(*chances: tuple[float, float]) -> Callable[[Floats], Floats]:
    """Return the chance of being correct of each score, given as (score, chance)."""
    table = sorted(chances)
    scores, right = np.array([s for s, _ in table]), np.array([c for _, c in table])
    return lambda s: right[np.searchsorted(scores, s)]


TIED = (
    Shape(
        "two values, .96 then .93",
        _values((1.0, 0.5), (0.6, 0.4)),
        _steps((1.0, 0.96), (0.5, 0.93)),
        continuous=False,
    ),
    Shape(
        "two values, .999 then .90",
        _values((1.0, 0.5), (0.5, 0.5)),
        _steps((1.0, 0.999), (0.5, 0.90)),
        continuous=False,
    ),
    Shape(
        "three values, .97, .93, .93",
        _values((1.0, 0.7, 0.5), (0.45, 0.5, 0.05)),
        _steps((1.0, 0.97), (0.7, 0.93), (0.5, 0.93)),
        continuous=False,
    ),
    Shape(
        "fiftieths, flat .96 to .94",
        lambda random, n: np.round(random.random(n) * 50) / 50,
        lambda s: 0.9365 + 0.025 * s,
        continuous=False,
    ),
)
"""Shapes in which one tied score carries the precision across the target."""


def random_shapes(count: int, *, seed: int, target: float = 0.95) -> tuple[Shape, ...]:
    """Draw monotone shapes at random; those whose oracle covers under 5 % are drawn again."""
    random = np.random.default_rng(seed)
    shapes: list[Shape] = []
    while len(shapes) < count:
        shape = _random_shape(random, f"random {len(shapes) + 1}")
        if shape.truth.oracle(target) >= 0.05:
            shapes.append(shape)
    return tuple(shapes)


def _random_shape(random: Generator, name: str) -> Shape:
    a, b = np.exp(random.uniform(0, 2.3)), np.exp(random.uniform(-0.5, 1.1))
    slope, middle = np.exp(random.uniform(0.5, 2.7)), random.uniform(-0.2, 0.8)
    top = random.uniform(0.955, 1.0)
    return Shape(name, _beta(a, b), lambda s: top * expit(slope * (s - middle)))
