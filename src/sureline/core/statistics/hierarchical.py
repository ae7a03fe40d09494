"""Calibration of small slices: one shared curve, and what little each slice differs from it.

A slice under 500 labels cannot carry a curve of its own. Every slice s gets
P(correct) = expit(a_s + b_s * logit(shared(score))) with (a_s, b_s) drawn from a normal
distribution that is estimated from all slices (empirical Bayes by expectation-maximisation with
Laplace's approximation): slices that differ little are pulled together, and a slice without
labels of its own gets the shared curve.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from sureline.core.statistics.calibration import (
    DIGITS,
    CalibrationMap,
    MappedScore,
    Unfitted,
    fit_tally,
)
from sureline.core.statistics.logistic import Logistic, Normal, fit_logistic
from sureline.core.statistics.platt import never_certain
from sureline.core.statistics.pooling import pooled
from sureline.core.statistics.tally import Tally

Floats = NDArray[np.float64]

OWN_CURVE = 500
"""From this many labels on, a slice is fitted by itself."""
_ROUNDS = 40
_FIRST_VARIANCE = np.array([0.25, 0.06])
"""Variance of offset and slope between slices, before they are looked at ..."""
_WORTH = 1.0
"""... and how many slices that guess is worth."""
_LEAST_SLOPE = 1e-6
_HELD = 1e15


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SliceMap:
    """The shared map, shifted and stretched on the logit scale for one slice of `n` labels.

    `low` and `high` are the ends of the shared map's range.
    """

    shared: CalibrationMap
    offset: float
    slope: float
    n: int

    @property
    def low(self) -> float:
        """Return the lowest score that was fitted, in any slice."""
        return self.shared.low

    @property
    def high(self) -> float:
        """Return the highest score that was fitted, in any slice."""
        return self.shared.high

    def __call__(self, scores: ArrayLike) -> Floats:
        """Return probabilities strictly between 0 and 1; see CalibrationMap."""
        return never_certain(
            scipy.special.expit(self.offset + self.slope * scipy.special.logit(self.shared(scores)))
        )

    def at(self, score: float | None) -> MappedScore | None:
        """Return the probability at one score, None where there is none; see CalibrationMap."""
        held = self.shared.at(score)
        if held is None or score is None:
            return None
        return MappedScore(value=float(self(score)), extrapolated=held.extrapolated)


SliceMaps = dict[str, CalibrationMap | SliceMap | Unfitted]


def fit_slices(tallies: Mapping[str, Tally], *, own_from: int = OWN_CURVE) -> SliceMaps:
    """Fit a map for every slice: its own from `own_from` labels on, else the shared one, shrunk.

    Slices must be of one measurement: a score has to mean the same in all of them. Where even all
    labels together are of one kind, every slice without a map of its own says so. A slice that is
    the only one has its own map, however small.
    """
    own = {key: fit_tally(tally) for key, tally in tallies.items() if tally.n >= own_from}
    maps: SliceMaps = {k: m for k, m in own.items() if isinstance(m, CalibrationMap)}
    small = sorted(tallies.keys() - maps.keys())
    if not small:
        return maps
    shared = fit_tally(pooled(tallies.values()))
    if isinstance(shared, Unfitted):
        return {**maps, **{key: Unfitted(reason=shared.reason, n=tallies[key].n) for key in small}}
    if [tallies[key].n for key in small] == [shared.n]:
        return {small[0]: shared}
    fits = _fit_around(shared, {key: tallies[key] for key in sorted(tallies)})
    return {
        **maps,
        **{
            key: SliceMap(
                shared=shared,
                offset=round(fits[key].intercept, DIGITS),
                slope=round(fits[key].slope, DIGITS),
                n=tallies[key].n,
            )
            for key in small
        },
    }


def _fit_around(shared: CalibrationMap, tallies: Mapping[str, Tally]) -> dict[str, Logistic]:
    """Estimate how slices spread around the shared curve, and each slice given that."""
    columns = {key: _columns(shared, tally) for key, tally in tallies.items()}
    mean, variance = np.array([0.0, 1.0]), _FIRST_VARIANCE
    fits: dict[str, Logistic] = {}
    for _ in range(_ROUNDS):
        prior = Normal(
            mean=(float(mean[0]), float(mean[1])),
            precision=(float(1 / variance[0]), float(1 / variance[1])),
        )
        fits = {key: fit_logistic(*column, prior) for key, column in columns.items()}
        found = np.array([fit.beta for fit in fits.values()])
        spread = np.array([np.diag(fit.covariance) for fit in fits.values()])
        # The shared curve is itself fitted to all labels, so the slices' mean is held at it: with
        # few slices a free mean would wander.
        squares = ((found - mean) ** 2 + spread).sum(axis=0)
        before, variance = variance, (squares + _WORTH * _FIRST_VARIANCE) / (len(fits) + _WORTH)
        if float(np.abs(variance / before - 1).max()) < 1e-4:
            break
    return {
        key: fit if fit.slope > 0 else fit_logistic(*columns[key], _flat_only(variance))
        for key, fit in fits.items()
    }


def _flat_only(variance: Floats) -> Normal:
    """Return a prior that holds the slope just above 0: a slice's map never falls."""
    return Normal(mean=(0.0, _LEAST_SLOPE), precision=(float(1 / variance[0]), _HELD))


def _columns(shared: CalibrationMap, tally: Tally) -> tuple[Floats, Floats, Floats]:
    labels, correct = tally.counts
    return (
        scipy.special.logit(shared(tally.score)),
        correct.astype(np.float64),
        labels.astype(np.float64),
    )
