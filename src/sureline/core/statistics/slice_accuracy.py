"""How often a slice is right, when it has few labels: empirical-Bayes beta-binomial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from sureline.errors import InvalidInput

Floats = NDArray[np.float64]

_TAIL = 0.025
_TYPICAL, _SPREAD = np.log(30.0), 1.5
"""Centre and deviation of a weak prior on the logarithm of the concentration: without it, slices
that happen to agree would be taken for one slice."""
_REACH = 12.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceAccuracy:
    """The accuracy of one slice: the posterior mean with its 95 % interval, all in (0, 1).

    `raw` is correct / n, None without labels.
    """

    slice_key: str
    n: int
    correct: int
    raw: float | None
    accuracy: float
    interval: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceAccuracies:
    """All slices by key. A slice is shrunk towards `mean` as if it had `concentration` labels."""

    mean: float
    concentration: float
    slices: tuple[SliceAccuracy, ...]


def slice_accuracies(counts: Mapping[str, tuple[int, int]]) -> SliceAccuracies:
    """Estimate the accuracy of slices from (labels, correct) by key.

    The slices' true accuracies are taken as draws from one beta distribution, which is estimated
    from all of them (its most probable parameters under a weak prior). Raises InvalidInput where
    there is no slice or more is correct than labelled.
    """
    if not counts:
        raise InvalidInput("expected at least one slice")
    keys = sorted(counts)
    for key in keys:
        labels, correct = counts[key]
        if not 0 <= correct <= labels:
            raise InvalidInput(f"{correct} correct of {labels} labels", field=key)
    n = np.array([counts[key][0] for key in keys], np.float64)
    right = np.array([counts[key][1] for key in keys], np.float64)
    mean, concentration = _fit(n, right)
    a, b = mean * concentration + right, (1 - mean) * concentration + n - right
    low, high = scipy.special.betaincinv(a, b, _TAIL), scipy.special.betaincinv(a, b, 1 - _TAIL)
    return SliceAccuracies(
        mean=mean,
        concentration=concentration,
        slices=tuple(
            SliceAccuracy(
                slice_key=key,
                n=counts[key][0],
                correct=counts[key][1],
                raw=counts[key][1] / counts[key][0] if counts[key][0] else None,
                accuracy=float(a[i] / (a[i] + b[i])),
                interval=(float(low[i]), float(high[i])),
            )
            for i, key in enumerate(keys)
        ),
    )


def _fit(n: Floats, right: Floats) -> tuple[float, float]:
    """Return the mean and the concentration of the beta distribution that slices come from."""

    def loss(at: Floats) -> float:
        mean, concentration = scipy.special.expit(at[0]), np.exp(at[1])
        a, b = mean * concentration, (1 - mean) * concentration
        likelihood = float(
            (scipy.special.betaln(a + right, b + n - right) - scipy.special.betaln(a, b)).sum()
        )
        return 0.5 * float((at[1] - _TYPICAL) / _SPREAD) ** 2 - likelihood

    start = np.log((right.sum() + 1) / (n.sum() - right.sum() + 1))
    held = [(-_REACH, _REACH), (-_REACH, _REACH)]
    found = scipy.optimize.minimize(
        loss, np.array([start, _TYPICAL]), method="L-BFGS-B", bounds=held
    )
    return float(scipy.special.expit(found.x[0])), float(np.exp(found.x[1]))
