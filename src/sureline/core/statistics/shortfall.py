"""Say why a slice has no certificate, and how many labels are missing (G20, case C08)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sureline.core.statistics.binomial import labels_needed, lower_bound, smallest_band
from sureline.core.statistics.partition import band_ends, loosest_band
from sureline.core.statistics.tally import Tally
from sureline.core.values.certificate import NoCertificate, Uncertified
from sureline.core.values.counted import counted
from sureline.core.values.threshold_text import threshold_text

_TRIES = 12


def shortfall(tally: Tally, *, slice_key: str, target: float, delta: float) -> Uncertified:
    """Return the reason why no band of `tally` is certified.

    Labels are too few where they are fewer than the smallest provable band, or where a band of
    at least half that size has shown the target so far; otherwise no band is precise enough.
    """
    smallest = smallest_band(target, delta)
    ends = _candidates(tally, smallest)
    best = _best_bound(tally, ends, delta)
    if _may_do(tally, ends, smallest, target):
        return _insufficient(tally, slice_key, ends, best, (target, delta))
    bound, threshold = best
    found = f"{counted(tally.n, 'label')}, but no band of scores is precise enough"
    message = (
        found
        if bound is None or threshold is None
        else f"{found}: the best lower bound is {bound:.3f} at scores of "
        f"{threshold_text(threshold)} or more, and {target:g} is needed"
    )
    return Uncertified(
        slice_key=slice_key,
        reason=NoCertificate.NO_CERTIFIABLE_THRESHOLD,
        n=tally.n,
        labels_missing=None,
        best_lower_bound=bound,
        best_threshold=threshold,
        message=message,
    )


def _candidates(tally: Tally, smallest: int) -> NDArray[np.int64]:
    """Return the ends of the tested bands and of all smaller ones."""
    small = np.arange(int(np.searchsorted(tally.labels, smallest)))
    return np.union1d(small, band_ends(tally.labels, smallest)).astype(np.int64)


def _best_bound(
    tally: Tally, ends: NDArray[np.int64], delta: float
) -> tuple[float | None, float | None]:
    if not len(ends):
        return None, None
    bounds = lower_bound(tally.correct[ends], tally.labels[ends], delta)
    best = int(np.argmax(bounds))
    return float(bounds[best]), float(tally.threshold[ends[best]])


def _may_do(tally: Tally, ends: NDArray[np.int64], smallest: int, target: float) -> bool:
    if tally.n < smallest:
        return True
    labels, correct = tally.labels[ends], tally.correct[ends]
    return bool(np.any((2 * labels >= smallest) & (correct >= target * labels)))


def _insufficient(
    tally: Tally,
    slice_key: str,
    ends: NDArray[np.int64],
    best: tuple[float | None, float | None],
    level: tuple[float, float],
) -> Uncertified:
    end, least = _nearest(tally, ends, level)
    missing = _confirmed(tally, end, least, level)
    where = "" if end is None else f" at scores of {threshold_text(tally.threshold[end])} or more"
    found = _too_few(tally.n)
    message = (
        f"{found}: {counted(missing, 'more label')} without an error{where} would do"
        if missing is not None
        else f"{found}: at least {counted(least, 'more label')} without an error{where} "
        f"{'is' if least == 1 else 'are'} needed"
    )
    return Uncertified(
        slice_key=slice_key,
        reason=NoCertificate.INSUFFICIENT_DATA,
        n=tally.n,
        labels_missing=missing,
        best_lower_bound=best[0],
        best_threshold=best[1],
        message=message,
    )


def _too_few(labels: int) -> str:
    if not labels:
        return "No labels"
    return f"{counted(labels, 'label')} {'is' if labels == 1 else 'are'} too few"


def _nearest(
    tally: Tally, ends: NDArray[np.int64], level: tuple[float, float]
) -> tuple[int | None, int]:
    """Return the band that its own exact test would pass soonest, and after how many labels.

    Bands that have shown the target so far come first. A band with e errors needs at least
    e / (1 - target) labels, so bands are tried in the order of that estimate and the search ends
    when it cannot get better.
    """
    if not len(ends):
        return None, labels_needed(0, *level)
    shown = ends[tally.correct[ends] >= level[0] * tally.labels[ends]]
    ends = shown if len(shown) else ends
    errors = tally.labels[ends] - tally.correct[ends]
    estimate = errors / (1 - level[0]) - tally.labels[ends]
    found, least = int(ends[0]), -1
    for i in np.argsort(estimate, kind="stable"):
        if 0 <= least <= estimate[i]:
            break
        needed = max(1, labels_needed(int(errors[i]), *level) - int(tally.labels[ends[i]]))
        if least < 0 or needed < least:
            found, least = int(ends[i]), needed
    return found, least


def _confirmed(tally: Tally, end: int | None, least: int, level: tuple[float, float]) -> int | None:
    """Return how many labels without an error in the band do certify, by trying them."""
    low, high, step = least - 1, least, 1
    for _ in range(_TRIES):
        if _would_certify(tally, end, high, level):
            break
        low, high, step = high, high + step, step * 2
    else:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        if _would_certify(tally, end, middle, level):
            high = middle
        else:
            low = middle
    return high


def _would_certify(tally: Tally, end: int | None, more: int, level: tuple[float, float]) -> bool:
    if end is None:
        labels = correct = np.asarray([more], np.int64)
    else:
        labels, correct = tally.labels.copy(), tally.correct.copy()
        labels[end:] += more
        correct[end:] += more
    return loosest_band(labels, correct, *level) is not None
