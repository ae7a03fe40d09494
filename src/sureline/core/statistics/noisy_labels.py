"""Precision where those who label miss some errors (Rogan and Gladen 1978, Am. J. Epidemiol. 107).

Of the wrong outputs a share `d`, the detection, is called wrong; planted errors measure it. With a
true precision P, a share (1 - P) d is called wrong, so P = 1 - (share called wrong) / d.

Two things are assumed: planted errors are noticed as often as real ones, and right outputs are
called right. Where right ones are called wrong as well, precision is higher than said here: the
error is on the safe side. Where planted errors are the easier ones, it is lower.
"""

from __future__ import annotations

from dataclasses import dataclass

from sureline.core.statistics.attention import Detection
from sureline.core.statistics.binomial import check_level, lower_bound, upper_bound
from sureline.errors import InvalidInput

_TAIL = 0.0125
"""A quarter of 5 %: two ends, and two uncertainties at each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectedPrecision:
    """The precision that labels state, and the one that they amount to.

    `stated` takes every label at its word; `corrected` allows for the errors that were missed,
    None where no planted error was noticed or shown. `interval` holds the true precision with at
    least 95 % confidence, from both uncertainties; [0, stated end] widens to [0, 1] of nothing.
    """

    labels: int
    stated: float | None
    stated_interval: tuple[float, float]
    detection: Detection
    corrected: float | None
    interval: tuple[float, float]


def corrected_precision(correct: int, labels: int, detection: Detection) -> CorrectedPrecision:
    """Correct a precision of `correct` of `labels` for the errors that labellers miss.

    The interval is made of four exact bounds, each at 98.75 % (Bonferroni): conservative, valid
    at any size. Raises InvalidInput for impossible counts.
    """
    if not 0 <= correct <= labels:
        raise InvalidInput(f"expected 0 to {labels} correct labels, got {correct}", field="correct")
    wrong, share = labels - correct, detection.share
    known = share if labels else None
    return CorrectedPrecision(
        labels=labels,
        stated=correct / labels if labels else None,
        stated_interval=Detection(caught=correct, shown=labels).interval,
        detection=detection,
        corrected=max(0.0, 1 - wrong / labels / known) if known else None,
        interval=_interval(wrong, labels, detection),
    )


def _interval(wrong: int, labels: int, detection: Detection) -> tuple[float, float]:
    if not labels:
        return 0.0, 1.0
    most, least = _bounds(wrong, labels)[::-1]
    seen_least, seen_most = _bounds(detection.caught, detection.shown)
    low = max(0.0, 1 - most / seen_least) if seen_least > 0 else 0.0
    high = max(0.0, 1 - least / seen_most) if seen_most > 0 else 1.0
    return low, high


def _bounds(part: int, whole: int) -> tuple[float, float]:
    if not whole:
        return 0.0, 1.0
    return float(lower_bound(part, whole, _TAIL)), float(upper_bound(part, whole, _TAIL))


def demand_under_noise(target: float, delta: float, detection: Detection) -> tuple[float, float]:
    """Return the (target, delta) that noisy labels must show, so that the true one is shown.

    Where labels miss errors, `target` is reached if no more than (1 - target) d are called wrong.
    Half of `delta` is spent on the lower bound of the detection d, half is left for the labels, so
    that a certificate is false with a chance of at most `delta`. Without a planted error noticed
    nothing can be shown, and the target is 1. Raises InvalidInput.
    """
    check_level(target, delta)
    low = (
        float(lower_bound(detection.caught, detection.shown, delta / 2)) if detection.shown else 0.0
    )
    return 1 - (1 - target) * low, delta / 2
