"""Spikes: does something happen more often, or less, than it did lately? (L5)

A window of the latest opinions is compared with those of the days before it by the exact
conditional test: given how many of all were failures, the number in the window is hypergeometric
if nothing has changed, whatever the rate is. There is no estimated rate that could be wrong.

Every look spends its part of the false alarms that a year may bring; see docs/explanation/
second-opinions.md for what is promised and what it assumes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from sureline.errors import InvalidInput

LOOKS_A_YEAR = 365 * 24
"""A look an hour, the interval of the periodic watch."""
LEAST_CHANGE = 0.05
"""An alarm needs at least this change: one more, or one less, in twenty."""

LEAST_PART = 5
"""A rise needs so many in its window: two calls that fail together are a hiccup, whatever p is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alertness:
    """How easily a look alarms.

    `alpha` in (0, 1) bounds the expected number of false alarms of a whole year over all `series`
    that are looked at together, at `looks` looks a year. `least_change` in [0, 1] is the smallest
    change of a rate worth an alarm.
    """

    alpha: float = 0.1
    series: int = 1
    looks: int = LOOKS_A_YEAR
    least_change: float = LEAST_CHANGE

    def __post_init__(self) -> None:
        if self.series < 1 or self.looks < 1:
            raise InvalidInput("expected at least 1 series and 1 look", field="spike")
        if not 0.0 < self.alpha < 1.0 or not 0.0 <= self.least_change <= 1.0:
            raise InvalidInput("expected alpha between 0 and 1, change from 0 to 1", field="spike")

    @property
    def allowed(self) -> float:
        """Return the p-value at or below which one look is significant."""
        return self.alpha / self.series / self.looks


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """`part` of `whole` opinions, 0 <= part <= whole."""

    part: int
    whole: int

    def __post_init__(self) -> None:
        if not 0 <= self.part <= self.whole:
            raise InvalidInput(f"expected 0 <= part <= whole, got {self.part} of {self.whole}")

    def __add__(self, other: Rate) -> Rate:
        return Rate(part=self.part + other.part, whole=self.whole + other.whole)

    @property
    def value(self) -> float | None:
        """Return the share in [0, 1], None of nothing."""
        return self.part / self.whole if self.whole else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spike:
    """What one look says: `now` against `before`; `p_value` is one-sided in the direction seen."""

    alarm: bool
    rose: bool
    before: Rate
    now: Rate
    p_value: float
    allowed: float


def spike(before: Rate, now: Rate, alertness: Alertness, *, falls_too: bool = False) -> Spike:
    """Compare a window with the disjoint one before it.

    A rise alarms, with `falls_too` a fall as well, each at half of what is allowed. Nothing alarms
    where either window is empty. Fisher's exact test; the alarms of a constant rate are at most
    what is allowed at every rate and every size.
    """
    rose, p_value, change = True, 1.0, 0.0
    if before.value is not None and now.value is not None:
        change = now.value - before.value
        rose = change >= 0
        enough = now.part >= LEAST_PART if rose else falls_too
        if enough and abs(change) >= alertness.least_change:
            p_value = _tail(before, now, rose=rose)
    allowed = alertness.allowed / 2 if falls_too else alertness.allowed
    return Spike(
        alarm=p_value <= allowed,
        rose=rose,
        before=before,
        now=now,
        p_value=p_value,
        allowed=allowed,
    )


def _tail(before: Rate, now: Rate, *, rose: bool) -> float:
    """Return the hypergeometric probability of a window as extreme as this one."""
    from scipy.stats import hypergeom

    sizes = (before.whole + now.whole, before.part + now.part, now.whole)
    tail = hypergeom.sf(now.part - 1, *sizes) if rose else hypergeom.cdf(now.part, *sizes)
    return float(tail)


def began(days: Sequence[Rate], before: Rate, now: Rate) -> int:
    """Return the place of the day, of consecutive `days` that end today, on which a rate changed.

    The most likely one if the rate was that of `before` until then and that of `now` from then on.
    """
    old, new = _shrunk(before), _shrunk(now)
    gain_part, gain_rest = math.log(new / old), math.log((1 - new) / (1 - old))
    best, most, total = len(days) - 1, -math.inf, 0.0
    for place in range(len(days) - 1, -1, -1):
        day = days[place]
        total += day.part * gain_part + (day.whole - day.part) * gain_rest
        if day.whole and total > most:
            best, most = place, total
    return best


def _shrunk(rate: Rate) -> float:
    return (rate.part + 0.5) / (rate.whole + 1)
