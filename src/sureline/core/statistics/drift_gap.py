"""The signed gap of the automated band: what was promised minus what the audit found (L3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sureline.core.statistics.binomial import lower_bound, upper_bound
from sureline.core.statistics.reliability import TOO_FEW, Calibrated
from sureline.core.statistics.tally import Tally
from sureline.errors import InvalidInput

_TAIL = 0.025


@dataclass(frozen=True, slots=True, kw_only=True)
class BandGap:
    """The band {score >= threshold}: `n` audited labels in it.

    `predicted` is the mean calibrated value, `actual` the share correct, `gap` predicted - actual
    (positive: overconfident), `interval` the two-sided 95 % interval of the gap; all None without
    labels.
    """

    threshold: float
    n: int
    predicted: float | None
    actual: float | None
    gap: float | None
    interval: tuple[float, float] | None
    verdict: Calibrated


def band_gap(tally: Tally, threshold: float, values: ArrayLike | None = None) -> BandGap:
    """Return the signed gap of the band, from audited labels only.

    `values` are the calibrated values of the tally's entries (`calibration(tally.score)`); without
    them the scores themselves are taken. The interval is Clopper-Pearson's for the share correct.
    """
    value = tally.score if values is None else np.asarray(values, np.float64)
    if value.shape != tally.score.shape:
        raise InvalidInput(f"expected {len(tally.score)} values, got {value.shape}", field="values")
    inside = tally.threshold >= threshold
    labels, correct = (one[inside] for one in tally.counts)
    n, right = int(labels.sum()), int(correct.sum())
    if not n:
        return BandGap(
            threshold=threshold,
            n=0,
            predicted=None,
            actual=None,
            gap=None,
            interval=None,
            verdict=Calibrated.TOO_FEW,
        )
    predicted = float((labels * value[inside]).sum()) / n
    low = predicted - float(upper_bound(right, n, _TAIL))
    high = predicted - float(lower_bound(right, n, _TAIL))
    return BandGap(
        threshold=threshold,
        n=n,
        predicted=predicted,
        actual=right / n,
        gap=predicted - right / n,
        interval=(low, high),
        verdict=_verdict(n, low, high),
    )


def _verdict(n: int, low: float, high: float) -> Calibrated:
    if n < TOO_FEW:
        return Calibrated.TOO_FEW
    if low > 0:
        return Calibrated.OVERCONFIDENT
    return Calibrated.UNDERCONFIDENT if high < 0 else Calibrated.WELL_CALIBRATED
