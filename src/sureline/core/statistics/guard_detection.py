"""How long the guard takes to notice that precision has fallen, and how much audit that needs (L4).

Estimates along the expected path: labels after which the *expected* counts trip the guard. They
are up to a fifth longer than simulated medians (docs/reference/guard-benchmark.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sureline.core.statistics.binomial import check_level
from sureline.core.statistics.guard import EVERY, KEPT
from sureline.core.statistics.guard_evidence import log_evidence
from sureline.errors import InvalidInput

FALL = 0.10
"""A fall in precision by so much is what detection times are stated for."""
_MOST = 1_000_000
"""Beyond so many labels, nothing is said about when a fall is noticed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """When a fall from `target` to `precision` is noticed, None where never within reason.

    `labels` audited outputs, that is `weeks` at this volume and audit rate. `two_week_rate` is
    the audit rate in (0, 1] that would make it two weeks, None where even auditing everything
    is too slow.
    """

    precision: float
    labels: int | None
    weeks: float | None
    two_week_rate: float | None


def detection(
    *,
    target: float,
    alpha: float,
    weekly_automated: float,
    audit_rate: float,
    healthy_labels: int,
    precision: float | None = None,
) -> Detection:
    """Estimate when the guard notices that precision is now `precision` (default target - .10).

    `weekly_automated` outputs a week act on their own, a share `audit_rate` in [0, 1] of them is
    audited; before the fall the guard had seen `healthy_labels` labels (GuardState.labels) at a
    precision above target, which slow it down.
    """
    if weekly_automated < 0 or not 0 <= audit_rate <= 1:
        raise InvalidInput("expected a volume of 0 or more and a rate from 0 to 1")
    fallen = max(0.0, target - FALL) if precision is None else precision
    labels = labels_to_detect(
        target=target, alpha=alpha, precision=fallen, healthy_labels=healthy_labels
    )
    audited = weekly_automated * audit_rate
    enough = labels is not None and 0 < labels <= 2 * weekly_automated
    return Detection(
        precision=fallen,
        labels=labels,
        weeks=labels / audited if labels is not None and audited > 0 else None,
        two_week_rate=labels / (2 * weekly_automated) if labels is not None and enough else None,
    )


def labels_to_detect(
    *, target: float, alpha: float, precision: float, healthy_labels: int = 0
) -> int | None:
    """Return after how many audited labels at `precision` the expected counts trip the guard.

    None where `precision` is not below `target`, or where it takes more than a million labels.
    The `healthy_labels` before are taken to be wrong three times in five as often as allowed.
    """
    check_level(target, alpha)
    if not 0 <= precision <= 1 or healthy_labels < 0:
        raise InvalidInput("expected a precision from 0 to 1 and labels of 0 or more")
    if precision >= target:
        return None
    high = 1
    while not _trips(high, target, alpha, precision, healthy_labels):
        if high > _MOST:
            return None
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if _trips(middle, target, alpha, precision, healthy_labels):
            high = middle
        else:
            low = middle
    return high


def _trips(labels: int, target: float, alpha: float, precision: float, healthy: int) -> bool:
    """Tell whether the expected counts after `labels` labels at `precision` reach the limit."""
    number = np.arange((healthy + labels - 1) // EVERY + 1)
    number = np.concatenate((number[:1], number[1:][-(KEPT - 1) :]))
    begun = number * EVERY
    good = np.maximum(healthy - begun, 0)
    bad = healthy + labels - np.maximum(begun, healthy)
    errors = good * 0.6 * (1 - target) + bad * (1 - precision)
    each = log_evidence(errors, good + bad, target) - np.log((number + 1.0) * (number + 2.0))
    cash = -np.log(number[-1] + 2.0)
    return bool(np.logaddexp(np.logaddexp.reduce(each), cash) >= -np.log(alpha))
